import { afterEach, describe, expect, test } from "bun:test";
import { PAGE_BYTES_MAX } from "../../../src/fleet/scrape/exposition.ts";
import { REQUESTS_MAX } from "../../../src/fleet/scrape/scraper.ts";
import { LOAD, PAGE, ScrapeScene, until } from "./scene.ts";

/** Also the timeout of a request. */
const INTERVAL_MS = 2000;
const SHORT_MS = 50;

type Answer = (request: Request) => Response | Promise<Response>;

let server: Bun.Server<undefined> | null = null;
let scene: ScrapeScene | null = null;

/** A scraper whose only instance is a server that answers so. */
function serve(answer: Answer, intervalMs = INTERVAL_MS): { scene: ScrapeScene; name: string } {
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  scene = new ScrapeScene(intervalMs);
  const name = `127.0.0.1:${server.port}`;
  scene.put(name);
  return { scene, name };
}

afterEach(async () => {
  await scene?.scraper.stop();
  await server?.stop(true);
});

describe("MetricsScraper over sockets", () => {
  test("reports what an engine answers to GET /metrics", async () => {
    const requests: string[] = [];
    const { scene, name } = serve((request) => {
      requests.push(`${request.method} ${new URL(request.url).pathname}`);
      return new Response(PAGE, { headers: { "content-type": "text/plain; version=0.0.4" } });
    });
    await scene.look();
    expect(requests).toEqual(["GET /metrics"]);
    expect(scene.reports).toEqual([{ name, report: LOAD }]);
    expect(scene.scraper.problemOf(name)).toBeNull();
  });

  test("looks by itself from start to stop", async () => {
    const { scene, name } = serve(() => new Response(PAGE));
    scene.scraper.start();
    await until(() => scene.reports.length === 1);
    scene.clock.advance(INTERVAL_MS);
    await until(() => scene.reports.length === 2);
    await scene.scraper.stop();
    expect(scene.reports).toEqual([
      { name, report: LOAD },
      { name, report: LOAD },
    ]);
  });

  test.each([404, 500, 204])("does not read the answer of status %p", async (status) => {
    const { scene, name } = serve(() => new Response(status === 204 ? null : PAGE, { status }));
    await scene.look();
    expect(scene.reports).toEqual([]);
    expect(scene.scraper.problemOf(name)).toBe(`/metrics answered ${status}, 200 is needed`);
  });

  test("does not follow redirects", async () => {
    const paths: string[] = [];
    const { scene, name } = serve((request) => {
      const path = new URL(request.url).pathname;
      paths.push(path);
      return path === "/metrics" ? Response.redirect("/elsewhere", 307) : new Response(PAGE);
    });
    await scene.look();
    expect(paths).toEqual(["/metrics"]);
    expect(scene.scraper.problemOf(name)).toBe("/metrics answered 307, 200 is needed");
  });

  test("names the failure of an engine that refuses connections", async () => {
    const { scene, name } = serve(() => new Response(PAGE));
    await server?.stop(true);
    await scene.look();
    expect(scene.scraper.problemOf(name)).toStartWith("/metrics cannot be read: ");
  });

  test("gives up an engine that never answers", async () => {
    const { scene, name } = serve(() => new Promise(() => {}), SHORT_MS);
    await scene.look();
    expect(scene.scraper.problemOf(name)).toBe(`/metrics was not answered whole within ${SHORT_MS} ms`);
  });

  test("gives up an engine that stops in the middle of its page", async () => {
    const { scene, name } = serve(
      () => new Response(new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode(PAGE)) })),
      SHORT_MS,
    );
    await scene.look();
    expect(scene.reports).toEqual([]);
    expect(scene.scraper.problemOf(name)).toBe(`/metrics was not answered whole within ${SHORT_MS} ms`);
  });

  test("stops reading a page that is too large", async () => {
    let sentBytes = 0;
    let isCancelled = false;
    const chunk = new TextEncoder().encode(PAGE.repeat(1000));
    const { scene, name } = serve(
      () =>
        new Response(
          new ReadableStream({
            async pull(body) {
              body.enqueue(chunk);
              sentBytes += chunk.byteLength;
              await new Promise((resolve) => setImmediate(resolve));
            },
            cancel() {
              isCancelled = true;
            },
          }),
        ),
    );
    await scene.look();
    expect(scene.reports).toEqual([]);
    expect(scene.scraper.problemOf(name)).toBe(`/metrics is larger than ${PAGE_BYTES_MAX} bytes`);
    await until(() => isCancelled);
    expect(sentBytes).toBeLessThan(16 * PAGE_BYTES_MAX);
  });

  test("reads a page of the largest size, in whatever pieces it comes", async () => {
    const page = `# ${"é".repeat((PAGE_BYTES_MAX - PAGE.length - 3) / 2)}\n${PAGE}`;
    const bytes = new TextEncoder().encode(page);
    expect(PAGE_BYTES_MAX - bytes.length).toBeLessThan(2);
    const { scene, name } = serve(() => new Response(bytes));
    await scene.look();
    expect(scene.reports).toEqual([{ name, report: LOAD }]);
  });

  test.each([
    ["a page of HTML", "<!doctype html><html><body>Welcome</body></html>"],
    ["JSON", '{"vllm:num_requests_waiting": 3}'],
    ["bytes that are no text", new Uint8Array([0, 255, 254, 10, 128, 0])],
    ["nothing", ""],
  ])("finds no load in %s", async (_, body) => {
    const { scene, name } = serve(() => new Response(body));
    await scene.look();
    expect(scene.reports).toEqual([]);
    expect(scene.scraper.problemOf(name)).toBe("no vllm:num_requests_waiting in /metrics");
  });

  test("does not take a page that ends within a letter for a whole one", async () => {
    const { scene, name } = serve(
      () => new Response(new Uint8Array([...new TextEncoder().encode("vllm:num_requests_waiting 1"), 0xc3])),
    );
    await scene.look();
    expect(scene.scraper.problemOf(name)).toBe('this line of /metrics is no sample: "vllm:num_requests_waiting 1\ufffd"');
  });

  test("drops the answer of an engine that was replaced during the request", async () => {
    const { scene, name } = serve(() => {
      scene.put(name, { incarnation: "second" });
      return new Response(PAGE);
    });
    await scene.look();
    expect(scene.reports).toEqual([]);
    await scene.look(INTERVAL_MS);
    expect(scene.reports).toEqual([{ name, report: LOAD }]);
  });

  test("asks no more engines at once than are allowed", async () => {
    const held: (() => void)[] = [];
    let heldMax = 0;
    const { scene, name } = serve(async () => {
      await new Promise<void>((resolve) => {
        held.push(resolve);
        heldMax = Math.max(heldMax, held.length);
      });
      return new Response(PAGE);
    });
    for (let index = 1; index < 40; index++) scene.put(`i-${index}:1`, { address: name });
    scene.scraper.step();
    scene.clock.advance(INTERVAL_MS);
    scene.scraper.step();
    await until(() => held.length === REQUESTS_MAX);
    while (scene.reports.length < 40) {
      for (const answer of held.splice(0)) answer();
      scene.scraper.step();
      await until(() => held.length > 0 || scene.scraper.requestCount === 0);
    }
    expect(heldMax).toBe(REQUESTS_MAX);
  });
});
