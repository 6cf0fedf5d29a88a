import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MessageBuffer, ZmqContext, type ZmqSocket } from "#wire";
import { SocketMonitor } from "../../../src/wire/libzmq/monitor.ts";
import { waitUntil } from "../wait-until.ts";

describe("SocketMonitor", () => {
  let context: ZmqContext;
  let publisher: ZmqSocket;
  let endpoint: string;

  beforeEach(() => {
    context = ZmqContext.create();
    publisher = context.openSocket("PUB");
    endpoint = publisher.bind("tcp://127.0.0.1:0");
  });

  afterEach(() => {
    publisher.close();
    context.terminate();
  });

  const openMonitored = () => {
    const socket = context.openSocket("SUB", { subscription: new Uint8Array(0) });
    const monitor = new SocketMonitor(context, socket);
    socket.connect(endpoint);
    return { socket, monitor };
  };

  test("SocketMonitor reports handshake, disconnect and retry in order, and nothing else", () => {
    const { socket, monitor } = openMonitored();
    const nextEvent = () => waitUntil([monitor.socket], () => monitor.next());
    expect(nextEvent()).toBe("handshake-succeeded");
    expect(monitor.next()).toBeNull();
    publisher.close();
    expect(nextEvent()).toBe("disconnected");
    expect(nextEvent()).toBe("connect-retried");
    monitor.close();
    socket.close();
  });

  test("SocketMonitor never holds libzmq up when it is closed amid events", () => {
    for (let round = 0; round < 100; round++) {
      const { socket, monitor } = openMonitored();
      monitor.close();
      socket.close();
    }
    const { socket, monitor } = openMonitored();
    const buffer = new MessageBuffer(10);
    const message = waitUntil([socket], () => {
      publisher.send([new Uint8Array([7])]);
      return socket.receive(buffer) === "message" ? buffer.frame(0) : null;
    });
    expect([...message]).toEqual([7]);
    monitor.close();
    socket.close();
  });
});
