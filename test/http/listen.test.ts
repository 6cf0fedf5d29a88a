import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { TOKENS_MAX } from "#domain";
import { ListenError, type Listener, listen } from "#http";
import { BODY_BYTES_MAX } from "../../src/http/limits.ts";
import { type Certificates, createCertificates } from "../support/certificates.ts";
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
    // Who still sends to a connection that the server has closed hears of it this way; what came back before is the answer.
    socket.on("error", (error: Error & { code?: string }) => {
      if (error.code !== "EPIPE" && error.code !== "ECONNRESET") reject(error);
    });
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

const chunkedHead = `POST ${queryPath} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;

test("Listener answers 413 with a problem document to a body of petabytes, and closes the connection", async () => {
  const listener = listen(createFakeApp().app, { host, port: 0 });
  const { answer } = openConnection(listener.port, head(1e15).replace("Connection: close\r\n", ""));
  expect(await answer).toMatch(/^HTTP\/1.1 413 [\s\S]*"type":"\/problems\/body-too-large"/);
  await listener.stop();
});

test("Listener answers 413 with a problem document to a body that does not end, and closes the connection", async () => {
  const listener = listen(createFakeApp().app, { host, port: 0 });
  const { socket, answer } = openConnection(listener.port, chunkedHead);
  const chunk = `100000\r\n${" ".repeat(0x100000)}\r\n`;
  const pump = () => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on("drain", pump);
  pump();
  expect(await answer).toMatch(/^HTTP\/1.1 413 [\s\S]*"type":"\/problems\/body-too-large"/);
  await listener.stop();
});

test("Listener keeps nothing of a body that no route reads", async () => {
  const listener = listen(createFakeApp().app, { host, port: 0 });
  const body = new Uint8Array(2 * BODY_BYTES_MAX);
  for (const path of ["/healthz", "/nowhere", "/v1/route/a/b"]) {
    const response = await fetch(`http://${host}:${listener.port}${path}`, { method: "POST", body });
    expect([404, 405]).toContain(response.status);
  }
  await listener.stop();
});

test.each([
  ["a header of a megabyte", `GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: ${"a".repeat(1 << 20)}\r\n\r\n`, 431],
  ["a thousand headers", `GET /healthz HTTP/1.1\r\nHost: a\r\n${"X-A: a\r\n".repeat(1000)}\r\n`, 431],
  ["a path of a megabyte", `GET /${"a".repeat(1 << 20)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ["two lengths", `${head(1).replace("\r\n\r\n", "")}\r\nContent-Length: 2\r\n\r\n{`, 400],
  ["a length and chunks", `${chunkedHead.replace("\r\n\r\n", "")}\r\nContent-Length: 2\r\n\r\n{`, 400],
  ["a length below zero", head(-1), 400],
])("Listener refuses %s at the door, and closes the connection", async (_, text, status) => {
  const { app, logged } = createFakeApp();
  const listener = listen(app, { host, port: 0 });
  expect(await openConnection(listener.port, text).answer).toStartWith(`HTTP/1.1 ${status} `);
  expect((await fetch(`http://${host}:${listener.port}/healthz`)).status).toBe(200);
  await listener.stop();
  expect(logged).toEqual([]);
});

test.each([
  ["no Host, as HTTP/1.0 allows", "GET /healthz HTTP/1.0\r\n\r\n", 200],
  ["an empty Host", "GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 200],
  ["a Host that is none", "GET /healthz HTTP/1.1\r\nHost: a b/c?d\r\nConnection: close\r\n\r\n", 200],
  ["no Host and parameters", "DELETE /v1/instances/a?incarnation_id=b HTTP/1.0\r\n\r\n", 404],
  ["a whole address", "GET http://elsewhere/healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 200],
  ["an address to connect to", "CONNECT elsewhere:1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404],
])("Listener answers a request with %s", async (_, text, status) => {
  const { app, logged } = createFakeApp();
  const listener = listen(app, { host, port: 0 });
  expect(await openConnection(listener.port, text).answer).toStartWith(`HTTP/1.1 ${status} `);
  await listener.stop();
  expect(logged).toEqual([]);
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

describe("Listener with TLS", () => {
  let certificates: Certificates;
  let listener: Listener;
  beforeAll(() => {
    certificates = createCertificates();
    listener = listen(createFakeApp().app, { host, port: 0, tls: certificates.server });
  });
  afterAll(() => listener.stop());

  const ask = (path: string, options: BunFetchRequestInit = {}) =>
    fetch(`https://${host}:${listener.port}${path}`, { tls: { ca: certificates.ca }, ...options });

  test("Listener answers whoever trusts its certificate, whatever the length of the host's name", async () => {
    for (const name of ["a", "ab", host, "engine.example.com:8443"]) {
      const response = await ask("/healthz", { headers: { host: name } });
      expect({ name, status: response.status }).toEqual({ name, status: 200 });
    }
  });

  test("Listener hands bodies and parameters on as without TLS", async () => {
    const options = { method: "POST", headers: { "content-type": "application/octet-stream" } };
    const answered = await ask(`${queryPath}?lora_name=a`, { ...options, body: new Uint32Array(300_000) });
    expect([answered.status, await readMatches(answered)]).toEqual([200, []]);
    expect((await ask(`${queryPath}?lora=a`, { ...options, body: new Uint32Array(1) })).status).toBe(422);
  });

  test("Listener has the configured certificate, and none that any client would trust", async () => {
    await expect(ask("/healthz", { tls: {} })).rejects.toThrow("unable to verify the first certificate");
  });

  test("Listener refuses HTTP in the clear, and answers nothing to it", async () => {
    const { answer } = openConnection(listener.port, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(await answer).not.toContain("HTTP/");
  });

  test.each([
    ["TLSv1.1", false],
    ["TLSv1.2", true],
    ["TLSv1.3", true],
  ] as const)("Listener speaks %s: %p", async (version, isSpoken) => {
    const socket = connectTls({ host, port: listener.port, ca: certificates.ca, minVersion: "TLSv1", maxVersion: version });
    const spoken = new Promise<string | null>((resolve) => {
      socket.on("secureConnect", () => resolve(socket.getProtocol()));
      socket.on("error", () => resolve(null));
      socket.on("close", () => resolve(null));
    });
    expect(await spoken).toBe(isSpoken ? version : null);
    socket.destroy();
  });
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
