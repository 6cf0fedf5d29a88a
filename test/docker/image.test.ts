import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { assert } from "#base";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { Container } from "./container.ts";
import { Image } from "./image.ts";
import { isImageTested } from "./image-tools.ts";

/** The build takes half a minute, and another where Debian must be fetched. */
const BUILD_TIMEOUT_MS = 300_000;

const TEST_TIMEOUT_MS = 30_000;

describe.skipIf(!isImageTested())("The image", () => {
  let image: Image | null = null;
  let url: string;
  let container: Container | null = null;

  beforeAll(async () => {
    image = await Image.build();
  }, BUILD_TIMEOUT_MS);

  afterAll(() => image?.remove(), TEST_TIMEOUT_MS);

  afterEach(() => container?.remove());

  /** Starts a container and waits until it answers; its health check asks at the port. */
  async function serve(): Promise<Container> {
    assert(image !== null, "the image was built");
    const [port] = freePorts(1);
    url = `http://127.0.0.1:${port}`;
    container = await Container.start(image, { WARMPATH_HTTP_SERVER_PORT: String(port), WARMPATH_URL: url });
    await eventually("it answers", () =>
      fetch(`${url}/healthz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    return container;
  }

  test(
    "serves as a user without rights who may write nowhere, and ends with code 0 on SIGTERM",
    async () => {
      expect(image?.config.User).toBe("65532:65532");
      const served = await serve();
      // 503 until the ingest thread has started.
      await eventually("a query is answered", async () => {
        const answer = await fetch(`${url}/v1/internal/kv-cache/query`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: '{"token_ids":[1]}',
        });
        return answer.status === 200;
      });
      await served.signal("TERM");
      expect(await served.process.exited).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is healthy while its process lives, and not when that hangs",
    async () => {
      const [kind, ...healthCheck] = image?.config.Healthcheck.Test ?? [];
      expect(kind).toBe("CMD");
      const served = await serve();
      expect(await served.execute(healthCheck)).toBe(0);
      await served.signal("STOP");
      expect(await served.execute(healthCheck)).not.toBe(0);
      await served.signal("CONT");
      expect(await served.execute(healthCheck)).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "has the dashboard, no shell, and a size that is told",
    async () => {
      const served = await serve();
      expect(await (await fetch(url)).text()).toStartWith("<!doctype html>");
      expect(await served.execute(["/bin/sh", "-c", "true"])).not.toBe(0);
      const megabytes = ((await image?.size()) ?? 0) / 1e6;
      console.log(`Image: ${megabytes.toFixed(0)} MB`);
      expect(megabytes).toBeLessThan(200);
    },
    TEST_TIMEOUT_MS,
  );
});
