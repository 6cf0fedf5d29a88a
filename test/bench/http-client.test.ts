import { afterEach, describe, expect, test } from "bun:test";
import { runProcess } from "./child-process.ts";
import type { ClientOrder, ClientReport } from "./http-client.process.ts";

const CLIENT = new URL("./http-client.process.ts", import.meta.url);

let server: Bun.Server<undefined> | null = null;

afterEach(async () => {
  await server?.stop(true);
});

/** The client's report on a server that answers like this. */
function askServer(answer: () => Response): Promise<ClientReport> {
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  const question = { path: "/", form: "JSON", fields: {} } as const;
  const order: ClientOrder = { port: server.port ?? 0, ...question, tokens: [1], connections: 2, warmUpMs: 5, durationMs: 50 };
  return runProcess<ClientReport>(CLIENT, order);
}

describe("The client process", () => {
  test("The client process reports its rate, its latencies and the answer that it got", async () => {
    const { requestsPerSecond, p50Ms, p99Ms, answer } = await askServer(() => new Response("the answer"));
    expect(requestsPerSecond).toBeGreaterThan(0);
    expect(p50Ms).toBeGreaterThan(0);
    expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
    expect(answer).toBe("the answer");
  });

  test("The client process fails on another status, which is not measured as an answer", async () => {
    await expect(askServer(() => new Response("", { status: 503 }))).rejects.toThrow(/ended with code 1[\s\S]*HTTP\/1\.1 503/);
  });

  test("The client process fails on answers that differ", async () => {
    let answers = 0;
    await expect(askServer(() => new Response(`answer ${answers++}`))).rejects.toThrow("answer 1 came after answer 0");
  });
});
