/** Far more large prompts at once than fit: some are answered, the others are told to come back, and the service stays itself. */

import { expect, test } from "bun:test";
import { TOKENS_MAX } from "#domain";
import { PROMPT_BODIES_BYTES_MAX } from "../../src/http/limits.ts";
import { startWarmpath, untilReady } from "./warmpath-process.ts";

const CLIENTS = 500;
const QUERY = "/v1/internal/kv-cache/query";

/** The bodies that are taken at once, and twice as much that the collector has not given back yet; the bodies sent are 3.7 GB. */
const MEMORY_BYTES_MAX = 3 * PROMPT_BODIES_BYTES_MAX;

/** Sends `head` and `body` on a connection of its own, as fast as the server takes them; the answer to it. */
function ask(port: number, head: Uint8Array, body: Uint8Array): Promise<string> {
  const answered = Promise.withResolvers<string>();
  const parts = [head, body];
  let sent = 0;
  let answer = "";
  const pump = (socket: Bun.Socket) => {
    while (parts.length > 0) {
      sent += socket.write(parts[0].subarray(sent));
      if (sent < parts[0].length) return;
      parts.shift();
      sent = 0;
    }
  };
  void Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: pump,
      drain: pump,
      data(socket, bytes) {
        answer += bytes.toString();
        // Every answer is one JSON object with a length.
        if (!answer.endsWith("}")) return;
        answered.resolve(answer);
        socket.end();
      },
      close: () => answered.resolve(answer),
      error: (_, error) => answered.reject(error),
    },
  }).catch(answered.reject);
  return answered.promise;
}

async function residentBytes(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

test("Warmpath answers what fits of 500 prompts of a million tokens at once, refuses the rest, and lives meanwhile", async () => {
  const warmpath = startWarmpath([]);
  const port = await warmpath.port;
  await untilReady(port);
  const before = await residentBytes(warmpath.pid);
  const body = new TextEncoder().encode(`{"token_ids":[${"123456,".repeat(TOKENS_MAX - 1)}1]}`);
  const head = new TextEncoder().encode(
    `POST ${QUERY} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  let isOver = false;
  const answers = Promise.all(Array.from({ length: CLIENTS }, () => ask(port, head, body))).finally(() => {
    isOver = true;
  });

  let probes = 0;
  let mostBytes = 0;
  while (!isOver) {
    for (const path of ["/healthz", "/metrics"]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      await response.text();
      expect(response.status).toBe(200);
      probes += 1;
    }
    mostBytes = Math.max(mostBytes, (await residentBytes(warmpath.pid)) - before);
    await Bun.sleep(10);
  }

  const refusals = (await answers).filter((answer) => !answer.startsWith("HTTP/1.1 200"));
  for (const refusal of refusals) {
    expect(refusal).toStartWith("HTTP/1.1 503");
    expect(refusal.toLowerCase()).toContain("\r\nretry-after: 1\r\n");
    expect(refusal).toContain('"type":"/problems/overloaded"');
  }
  expect(refusals.length).toBeGreaterThan(0);
  expect(refusals.length).toBeLessThan(CLIENTS);
  expect(mostBytes).toBeLessThan(MEMORY_BYTES_MAX);
  const counts = `${CLIENTS - refusals.length} answered, ${refusals.length} refused, ${probes} probes answered`;
  console.log(`${counts}, at most ${Math.round(mostBytes / 2 ** 20)} MiB more`);

  // With the load gone, a prompt of the same size is answered again.
  expect(await ask(port, head, body)).toStartWith("HTTP/1.1 200");
  warmpath.signal("SIGTERM");
  expect(await warmpath.exitCode).toBe(0);
}, 120_000);
