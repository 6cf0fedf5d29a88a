import { afterEach, describe, expect, test } from "bun:test";
import { HealthProber } from "../../src/fleet/prober.ts";

const servers: { stop(closeActive: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

/** Far above what loopback needs. */
const AMPLE = { timeoutMs: 5000, attempts: 2 };

function serve(answer: (request: Request, count: number) => Response | Promise<Response>) {
  const requests: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      requests.push(`${request.method} ${new URL(request.url).pathname}`);
      return answer(request, requests.length);
    },
  });
  servers.push(server);
  return { address: `127.0.0.1:${server.port}`, requests };
}

const never = () => new Promise<Response>(() => {});
const unaborted = () => new AbortController().signal;

describe("HealthProber", () => {
  test("HealthProber finds an instance alive whose /health answers 200, and asks no more", async () => {
    const { address, requests } = serve(() => new Response("body"));
    expect(await new HealthProber(AMPLE).probe(address, unaborted())).toBe(true);
    expect(requests).toEqual(["GET /health"]);
  });

  test("HealthProber does not wait for the end of the body", async () => {
    const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024)) });
    const { address } = serve(() => new Response(endless()));
    expect(await new HealthProber(AMPLE).probe(address, unaborted())).toBe(true);
  });

  test.each([204, 302, 404, 500, 503])("HealthProber takes %d for no sign of life, as often as it asks", async (status) => {
    const { address, requests } = serve(() => new Response(null, { status, headers: { Location: "/alive" } }));
    expect(await new HealthProber(AMPLE).probe(address, unaborted())).toBe(false);
    expect(requests).toEqual(["GET /health", "GET /health"]);
  });

  test("HealthProber finds an instance alive that answers at the second try only", async () => {
    const { address, requests } = serve((_request, count) => new Response(null, { status: count === 1 ? 503 : 200 }));
    expect(await new HealthProber(AMPLE).probe(address, unaborted())).toBe(true);
    expect(requests).toHaveLength(2);
  });

  test("HealthProber gives up on an instance that accepts and never answers", async () => {
    const { address, requests } = serve(never);
    expect(await new HealthProber({ timeoutMs: 30, attempts: 2 }).probe(address, unaborted())).toBe(false);
    expect(requests).toHaveLength(2);
  });

  test("HealthProber takes a refused connection for no sign of life", async () => {
    const gone = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    const address = `127.0.0.1:${gone.port}`;
    gone.stop(true);
    expect(await new HealthProber(AMPLE).probe(address, unaborted())).toBe(false);
  });

  test.each(["", "no address", "host:99999", "[::1"])(
    "HealthProber takes the address %j for no sign of life",
    async (address) => {
      expect(await new HealthProber({ ...AMPLE, attempts: 1 }).probe(address, unaborted())).toBe(false);
    },
  );

  test("HealthProber ends at once when it is aborted while it waits for an answer", async () => {
    const asked = Promise.withResolvers<void>();
    const { address, requests } = serve(() => {
      asked.resolve();
      return never();
    });
    const abort = new AbortController();
    const probe = new HealthProber({ timeoutMs: 60_000, attempts: 2 }).probe(address, abort.signal);
    await asked.promise;
    abort.abort();
    expect(await probe).toBe(false);
    expect(requests).toHaveLength(1);
  });

  test("HealthProber asks nothing when it is aborted before", async () => {
    const { address, requests } = serve(() => new Response());
    expect(await new HealthProber(AMPLE).probe(address, AbortSignal.abort())).toBe(false);
    expect(requests).toEqual([]);
  });

  test("HealthProber lets the probes beyond 192 wait, time and again, and fails none of them for that", async () => {
    let gate = Promise.withResolvers<void>();
    let full = Promise.withResolvers<void>();
    let openRequests = 0;
    const { address } = serve(async ({ url }) => {
      if (url.endsWith("/later")) return new Response();
      openRequests += 1;
      if (openRequests === 192) full.resolve();
      await gate.promise;
      openRequests -= 1;
      return new Response();
    });
    const prober = new HealthProber({ timeoutMs: 20_000, attempts: 1 });
    for (let round = 1; round <= 2; round++) {
      gate = Promise.withResolvers();
      full = Promise.withResolvers();
      const probes = Array.from({ length: 300 }, () => prober.probe(address, unaborted()));
      await full.promise;
      await fetch(`http://${address}/later`);
      expect(openRequests).toBe(192);
      gate.resolve();
      expect(await Promise.all(probes)).toEqual(Array(300).fill(true));
    }
  });
});
