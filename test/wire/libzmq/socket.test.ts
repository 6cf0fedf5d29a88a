import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MessageBuffer, ZmqContext, ZmqError, type ZmqSocket } from "#wire";
import { waitUntil } from "../wait-until.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

let context: ZmqContext;
let sockets: ZmqSocket[];
const open = (...parameters: Parameters<ZmqContext["openSocket"]>): ZmqSocket => {
  const socket = context.openSocket(...parameters);
  sockets.push(socket);
  return socket;
};

beforeEach(() => {
  context = ZmqContext.create();
  sockets = [];
});

afterEach(() => {
  for (const socket of sockets) socket.close();
  context.terminate();
});

function framesOf(buffer: MessageBuffer): string[] {
  return Array.from({ length: buffer.frameCount }, (_, index) => new TextDecoder().decode(buffer.frame(index)));
}

function receiveFrames(socket: ZmqSocket, buffer = new MessageBuffer(1000)): string[] {
  return waitUntil([socket], () => (socket.receive(buffer) === "message" ? framesOf(buffer) : null));
}

describe("ZmqSocket", () => {
  test.each(["tcp://127.0.0.1:0", "tcp://127.0.0.1:*"])("ZmqSocket tells the port that %s became", (endpoint) => {
    expect(open("PUB").bind(endpoint)).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d+$/);
  });

  test("ZmqSocket exchanges messages of several frames, empty ones too", () => {
    const router = open("ROUTER");
    const dealer = open("DEALER");
    dealer.connect(router.bind("tcp://127.0.0.1:0"));
    expect(dealer.send([bytes(""), bytes("question")])).toBe(true);
    const buffer = new MessageBuffer(1000);
    expect(receiveFrames(router, buffer).slice(1)).toEqual(["", "question"]);
    const identity = buffer.frame(0).slice();
    expect(router.send([identity, bytes(""), bytes("answer"), bytes("")])).toBe(true);
    expect(receiveFrames(dealer)).toEqual(["", "answer", ""]);
  });

  test("ZmqSocket never waits: nothing to receive and nobody to send to would block", () => {
    const dealer = open("DEALER");
    dealer.bind("tcp://127.0.0.1:0");
    expect(dealer.receive(new MessageBuffer(10))).toBe("would-block");
    expect(dealer.send([bytes("a"), bytes("b")])).toBe(false);
  });

  test("ZmqSocket says that a message did not fit, keeps what does, and goes on with the next", () => {
    const [left, right] = [open("PAIR"), open("PAIR")];
    left.bind("inproc://pair");
    right.connect("inproc://pair");
    const buffer = new MessageBuffer(0);
    const large = new Uint8Array(buffer.bytes.length + 1).fill(7);
    left.send([bytes("head"), large, bytes("tail")]);
    left.send([bytes("next")]);
    expect(right.receive(buffer)).toBe("truncated");
    expect(buffer.frameCount).toBe(3);
    expect(new TextDecoder().decode(buffer.frame(0))).toBe("head");
    expect(buffer.usedBytes).toBe(buffer.bytes.length);
    expect(right.receive(buffer)).toBe("message");
    expect(framesOf(buffer)).toEqual(["next"]);
  });

  test("ZmqSocket counts more frames than it keeps", () => {
    const [left, right] = [open("PAIR"), open("PAIR")];
    left.bind("inproc://pair");
    right.connect("inproc://pair");
    const buffer = new MessageBuffer(1000);
    left.send(Array.from({ length: 100 }, () => bytes("x")));
    expect(right.receive(buffer)).toBe("truncated");
    expect(buffer.frameCount).toBe(100);
    expect(() => buffer.frame(99)).toThrow("Invariant broken");
  });

  test("ZmqSocket names the endpoint and the reason when it cannot bind", () => {
    const endpoint = open("PUB").bind("tcp://127.0.0.1:0");
    const second = open("PUB");
    expect(() => second.bind(endpoint)).toThrow(`Cannot bind "${endpoint}": EADDRINUSE (Address already in use)`);
    expect(() => second.connect("nonsense")).toThrow('Cannot connect "nonsense": EINVAL');
  });

  test("ZmqSocket refuses an option value that libzmq refuses, and is closed then", () => {
    expect(() => context.openSocket("SUB", { receiveQueueMessages: -1 })).toThrow(ZmqError); // afterEach ends the context
  });

  test("ZmqSocket is not used after close, and closes twice", () => {
    const socket = open("PUB");
    socket.close();
    socket.close();
    expect(() => socket.send([bytes("x")])).toThrow("Invariant broken");
  });
});

describe("ZmqContext", () => {
  test("ZmqContext is ended by its owner only, after its sockets are closed", () => {
    const socket = open("PUB");
    expect(() => context.terminate()).toThrow("sockets are closed");
    expect(() => ZmqContext.attach(context.address).terminate()).toThrow("thread that created it");
    socket.close();
  });

  test("ZmqContext is shared by address: sockets of both meet inproc", () => {
    const guest = ZmqContext.attach(context.address).openSocket("PAIR");
    sockets.push(guest);
    const host = open("PAIR");
    host.bind("inproc://shared");
    guest.connect("inproc://shared");
    guest.send([bytes("hello")]);
    expect(receiveFrames(host)).toEqual(["hello"]);
  });
});
