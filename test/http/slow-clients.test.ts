/** Connections that are kept busy by as little as possible: each must end by itself, and others be served meanwhile. */

import { afterAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { listen } from "#http";
import { createFakeApp } from "./fake-directory.ts";

const HOST = "127.0.0.1";
const DRIP_MS = 300;

/** More than any client takes that is cut off; one that is not fails its test. */
const PATIENCE_MS = 20_000;

const { app, logged } = createFakeApp();
const listener = listen(app, { host: HOST, port: 0, idleTimeoutSeconds: 1 });
afterAll(() => listener.stop());

const post = (headers: string) =>
  `POST /v1/internal/kv-cache/query HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

/** Sends `opening`, then `drop` again and again; resolves once the server has closed the connection. */
function dripUntilClosed(opening: string, drop: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(listener.port, HOST, () => socket.write(opening));
    const dripping = setInterval(() => drop !== "" && socket.writable && socket.write(drop), DRIP_MS);
    const patience = setTimeout(() => socket.destroy(new Error("The server does not close the connection")), PATIENCE_MS);
    let received = "";
    let failure: Error | null = null;
    socket.on("data", (bytes) => {
      received += bytes.toString();
    });
    socket.on("error", (error: Error & { code?: string }) => {
      // Who writes to a connection that was closed meanwhile hears it this way.
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") failure = error;
    });
    socket.on("close", () => {
      clearInterval(dripping);
      clearTimeout(patience);
      if (failure === null) resolve(received);
      else reject(failure);
    });
  });
}

test(
  "Listener cuts off clients that send a byte now and then, and serves others meanwhile",
  async () => {
    const slow = Promise.all([
      dripUntilClosed("", ""),
      dripUntilClosed("GET /healthz HTTP/1.1\r\nHo", ""),
      dripUntilClosed("GET /healthz HTTP/1.1\r\nX-A: ", "a"),
      dripUntilClosed(post("Content-Length: 100000"), ""),
      dripUntilClosed(post("Content-Length: 100000"), " "),
      dripUntilClosed(post("Transfer-Encoding: chunked"), "1\r\n \r\n"),
    ]);
    let isClosed = false;
    const closed = slow.finally(() => {
      isClosed = true;
    });
    let served = 0;
    while (!isClosed) {
      expect((await fetch(`http://${HOST}:${listener.port}/healthz`)).status).toBe(200);
      served += 1;
      await Bun.sleep(100);
    }
    expect(await closed).toEqual(["", "", "", "", "", ""]);
    expect(served).toBeGreaterThan(5);
    expect(logged).toEqual([]);
  },
  PATIENCE_MS + 5000,
);
