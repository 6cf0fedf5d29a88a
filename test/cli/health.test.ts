import { afterEach, describe, expect, test } from "bun:test";
import { createFakeApp } from "../http/fake-directory.ts";
import { run } from "./recording-terminal.ts";

let server: Bun.Server<unknown> | null = null;

afterEach(async () => {
  await server?.stop(true);
  server = null;
});

/** A Warmpath that no instance has registered with. */
function serveNobody(): string {
  const { send } = createFakeApp();
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: ({ method, url }) => send(method, new URL(url).pathname) });
  return `http://127.0.0.1:${server.port}`;
}

describe("warmpath health", () => {
  test("says that Warmpath lives where no instance can serve, which status does not", async () => {
    const url = serveNobody();
    expect(await run(["health", `--url=${url}`])).toEqual({ code: 0, output: "Warmpath lives\n", complaints: "" });
    expect((await run(["status", `--url=${url}`])).code).toBe(1);
  });

  test("prints the service's own answer with --json", async () => {
    expect((await run(["health", "--json", `--url=${serveNobody()}`])).output).toBe('{"ok":true}\n');
  });

  test("ends with code 3 where nobody answers in time", async () => {
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Promise<Response>(() => {}) });
    expect((await run(["health", `--url=http://127.0.0.1:${server.port}`, "--timeout=0.05"])).code).toBe(3);
  });
});
