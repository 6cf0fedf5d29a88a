import { expect, test } from "bun:test";
import { connect } from "node:net";
import { TOKENS_MAX } from "#domain";
import { ListenError, listen } from "#http";
import { BODY_BYTES_MAX } from "../../src/http/limits.ts";
import { createFakeApp, streamMatch } from "./fake-directory.ts";
import { readMatches } from "./read-answer.ts";

const host = "127.0.0.1";
const queryPath = "/v1/internal/kv-cache/query";

/** Sends `text` on a connection of its own; `answer` is all that comes back until the server closes it. */
function openConnection(port: number, text: string) {
  const socket = connect(port, host);
  const answer = new Promise<string>((resolve, reject) => {
    let received = "";
    socket.on("data", (bytes) => {
      received += bytes.toString();
    });
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
  const sent = new Promise<void>((resolve) => socket.write(text, () => resolve()));
  return { socket, answer, sent };
}

const head = (length: number) =>
  `POST ${queryPath} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

test("Listener serves the largest prompt of every body form over a socket", async () => {
  const { app, directory } = createFakeApp();
  directory.answer = [streamMatch("a", 0)];
  const listener = listen(app, { host, port: 0 });
  try {
    const tokens = new Uint32Array(TOKENS_MAX).fill(0xffff_ffff);
    const bodies = [
      ["application/json", `{"token_ids": [${tokens.join(", ")}]}`],
      ["application/octet-stream", tokens],
    ] as const;
    for (const [type, body] of bodies) {
      const response = await fetch(`http://${host}:${listener.port}${queryPath}`, {
        method: "POST",
        body,
        headers: { "content-type": type },
      });
      expect(response.status).toBe(200);
      expect(await readMatches(response)).toHaveLength(1);
    }
    expect(directory.asked.map((prompt) => prompt.tokens.length)).toEqual([TOKENS_MAX, TOKENS_MAX]);
  } finally {
    await listener.stop();
  }
});

test("Listener answers 413 with a problem document to a body that is announced too long, without waiting for it", async () => {
  const listener = listen(createFakeApp().app, { host, port: 0 });
  const { answer } = openConnection(listener.port, head(BODY_BYTES_MAX + 1));
  expect(await answer).toMatch(
    new RegExp(`^HTTP/1.1 413 [^]*found ${BODY_BYTES_MAX + 1} bytes, at most ${BODY_BYTES_MAX} are allowed`),
  );
  await listener.stop();
});

test("Listener survives a client that leaves within its body, and logs no error for it", async () => {
  const { app, logged } = createFakeApp();
  const listener = listen(app, { host, port: 0 });
  const { socket, sent } = openConnection(listener.port, `${head(100)}{`);
  await sent;
  socket.destroy();
  expect((await fetch(`http://${host}:${listener.port}/healthz`)).status).toBe(200);
  await listener.stop();
  expect(logged).toEqual([]);
});

test("Listener stops once a running request has its answer", async () => {
  const body = '{"token_ids":[1]}';
  const listener = listen(createFakeApp().app, { host, port: 0 });
  const { socket, answer, sent } = openConnection(listener.port, head(body.length));
  await sent;
  // An answer on a later connection: the server has seen the earlier one.
  await fetch(`http://${host}:${listener.port}/healthz`, { headers: { connection: "close" } });
  const stopped = listener.stop();
  socket.write(body);
  expect(await answer).toStartWith("HTTP/1.1 200");
  await stopped;
  await expect(fetch(`http://${host}:${listener.port}/healthz`)).rejects.toThrow();
});

test("Listener closes a request that stalls beyond the drain timeout", async () => {
  const listener = listen(createFakeApp().app, { host, port: 0, drainTimeoutMs: 10 });
  const { answer, sent } = openConnection(listener.port, head(100));
  await sent;
  await fetch(`http://${host}:${listener.port}/healthz`, { headers: { connection: "close" } });
  await listener.stop();
  expect(await answer).toBe("");
});

test("listen says which port is taken", async () => {
  const { app } = createFakeApp();
  const listener = listen(app, { host, port: 0 });
  const again = () => listen(app, { host, port: listener.port });
  expect(again).toThrow(ListenError);
  expect(again).toThrow(
    `Cannot listen on 127.0.0.1:${listener.port}: the port is in use or the host does not resolve, a free port of this machine is needed`,
  );
  await listener.stop();
});

test("listen says that a host is not of this machine", () => {
  expect(() => listen(createFakeApp().app, { host: "192.0.2.1", port: 0 })).toThrow(
    "Cannot listen on 192.0.2.1:0: the host is not an address of this machine, one of its addresses is needed",
  );
});
