import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import { reach } from "../../../src/fleet/etcd/reach.ts";
import { eventually } from "../../support/eventually.ts";
import { freePorts } from "../../support/free-ports.ts";

type Greeted = "answers" | "hangs up" | "is silent";

let greeted: Greeted;
let port: number;
let heard: string;
let connections: Set<Socket>;
let listener: { stop(closeActiveConnections?: boolean): void };

beforeEach(() => {
  heard = "";
  connections = new Set();
  [port] = freePorts(1);
  listener = Bun.listen({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: (socket) => void connections.add(socket),
      data(socket, bytes) {
        heard += bytes.toString("latin1");
        if (greeted === "answers") socket.write("\0\0\0\x04\0\0\0\0\0");
        if (greeted === "hangs up") socket.end();
      },
      close: (socket) => void connections.delete(socket),
    },
  });
});

afterEach(() => listener.stop(true));

function ask(timeoutMs = 5000, signal = new AbortController().signal): Promise<void> {
  return reach(`127.0.0.1:${port}`, timeoutMs, signal);
}

async function expectClosed(): Promise<void> {
  await eventually("the socket is closed", () => connections.size === 0, 1000);
}

describe("reach", () => {
  test("reach resolves when the member answers a client of HTTP/2", async () => {
    greeted = "answers";
    await ask();
    expect(heard).toBe("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    await expectClosed();
    await reach(`http://127.0.0.1:${port}`, 5000, new AbortController().signal);
  });

  test("reach says that the member hung up", async () => {
    greeted = "hangs up";
    await expect(ask()).rejects.toThrow(`Cannot reach 127.0.0.1:${port}: it closed the connection`);
  });

  test("reach gives up on a member that is silent, and closes its socket", async () => {
    greeted = "is silent";
    await expect(ask(20)).rejects.toThrow(`Cannot reach 127.0.0.1:${port}: it says nothing within 20 ms`);
    await expectClosed();
  });

  test("reach ends with its signal", async () => {
    greeted = "is silent";
    const stopping = new AbortController();
    const asked = ask(5000, stopping.signal);
    await eventually("it greeted", () => heard !== "");
    stopping.abort();
    await expect(asked).rejects.toThrow("Warmpath stops");
    await expectClosed();
  });

  test("reach says that nobody listens", async () => {
    listener.stop(true);
    await expect(ask()).rejects.toThrow(`Cannot reach 127.0.0.1:${port}: connecting failed with ECONNREFUSED`);
  });

  test.each(["etcd", "", "http://etcd"])("reach refuses the address %j", async (address) => {
    await expect(reach(address, 5000, new AbortController().signal)).rejects.toThrow(
      `Cannot reach ${JSON.stringify(address)}: host:port is needed`,
    );
  });
});
