import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MessageBuffer, Poller, ZmqContext, type ZmqSocket } from "#wire";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("Poller", () => {
  let context: ZmqContext;
  let sockets: ZmqSocket[];

  beforeEach(() => {
    context = ZmqContext.create();
    sockets = [];
  });

  afterEach(() => {
    for (const socket of sockets) socket.close();
    context.terminate();
  });

  const pair = (name: string) => {
    const [left, right] = [context.openSocket("PAIR"), context.openSocket("PAIR")];
    sockets.push(left, right);
    left.bind(`inproc://${name}`);
    right.connect(`inproc://${name}`);
    return { left, right };
  };
  const drain = (socket: ZmqSocket) => {
    const buffer = new MessageBuffer(10);
    let messages = 0;
    while (socket.receive(buffer) === "message") messages += 1;
    return messages;
  };

  test("Poller returns the owners of readable sockets, and none when there are none", () => {
    const poller = new Poller<string>();
    const pairs = ["a", "b", "c"].map((name) => ({ name, ...pair(name) }));
    for (const { name, right } of pairs) poller.add(right, name);
    expect(poller.wait(0)).toEqual([]);
    pairs[0].left.send([bytes("x")]);
    pairs[2].left.send([bytes("x")]);
    expect(poller.wait(1000)).toEqual(["a", "c"]);
  });

  test("Poller goes on telling of a socket until it is drained", () => {
    const poller = new Poller<string>();
    const { left, right } = pair("p");
    poller.add(right, "p");
    for (let count = 0; count < 3; count++) left.send([bytes("x")]);
    right.receive(new MessageBuffer(10));
    expect(poller.wait(0)).toEqual(["p"]);
    expect(poller.wait(0)).toEqual(["p"]);
    expect(drain(right)).toBe(2);
    expect(poller.wait(0)).toEqual([]);
  });

  test("Poller misses no message whatever was called in between", () => {
    const poller = new Poller<string>();
    const { left, right } = pair("p");
    poller.add(right, "p");
    for (let round = 0; round < 2000; round++) {
      left.send([bytes("x")]);
      if (round % 3 === 0) right.send([bytes("y")]); // takes the commands behind the descriptor's signal
      if (round % 5 === 0) poller.wait(0);
      expect(poller.wait(1000)).toEqual(["p"]);
      expect(drain(right)).toBe(1);
      drain(left);
    }
  });

  test("Poller watches 400 sockets", () => {
    const poller = new Poller<number>();
    const pairs = Array.from({ length: 400 }, (_, index) => pair(`n${index}`));
    for (const [index, { right }] of pairs.entries()) poller.add(right, index);
    for (const index of [0, 199, 399]) pairs[index].left.send([bytes("x")]);
    expect(poller.wait(1000)).toEqual([0, 199, 399]);
  });

  test("Poller forgets a removed socket and keeps the others", () => {
    const poller = new Poller<string>();
    const pairs = ["a", "b", "c"].map((name) => ({ name, ...pair(name) }));
    for (const { name, right } of pairs) poller.add(right, name);
    poller.remove(pairs[0].right);
    poller.remove(pairs[0].right);
    expect(poller.socketCount).toBe(2);
    for (const { left } of pairs) left.send([bytes("x")]);
    expect([...poller.wait(1000)].sort()).toEqual(["b", "c"]);
  });

  test("Poller refuses more sockets than its capacity, and one twice", () => {
    const poller = new Poller<string>(1);
    const { left, right } = pair("p");
    poller.add(left, "left");
    expect(() => poller.add(right, "right")).toThrow("at most 1 sockets");
    const two = new Poller<string>(2);
    two.add(left, "left");
    expect(() => two.add(left, "left")).toThrow("once");
  });

  test("Poller only looks when the time is over already, and never waits without limit", () => {
    const poller = new Poller<string>();
    expect(poller.wait(-5)).toEqual([]);
    expect(() => poller.wait(Number.POSITIVE_INFINITY)).toThrow("limited time");
  });
});
