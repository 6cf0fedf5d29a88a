import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MessageBuffer, Subscriber, ZmqContext, type ZmqSocket } from "#wire";
import { RETRY_GRACE_MS } from "../../src/wire/connection-watch.ts";
import { writeFrameNumber } from "../../src/wire/frame-number.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { tryBind } from "./loopback.ts";
import { waitUntil } from "./wait-until.ts";

const MAX_MESSAGE_BYTES = 1000;
const TOPIC = "xllm-kv";
const bytes = (text: string) => new TextEncoder().encode(text);
const message = (batchSeq: number, payload: Uint8Array, topic = TOPIC) => [bytes(topic), writeFrameNumber(batchSeq), payload];

describe("Subscriber", () => {
  let context: ZmqContext;
  let publisher: ZmqSocket;
  let subscriber: Subscriber;
  let endpoint: string;
  const clock = new FakeClock();

  const subscribe = (topic: string) =>
    new Subscriber({
      context,
      endpoint,
      topic,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      buffer: new MessageBuffer(MAX_MESSAGE_BYTES),
      clock,
    });
  const nextEvent = () => waitUntil([subscriber.monitorSocket], () => subscriber.connection());
  const nextMessage = () => waitUntil([subscriber.socket], () => subscriber.receive());

  /**
   * Waits until the XPUB tells of a subscription that comes or goes. After a reconnect a SUB subscribes again only when its
   * thread polls it.
   */
  const hearSubscription = (subscriberSockets: readonly ZmqSocket[]) => {
    const buffer = new MessageBuffer(1000);
    waitUntil([publisher, ...subscriberSockets], () => (publisher.receive(buffer) === "message" ? true : null));
  };

  /** After this nothing that is published is missed. */
  const join = () => {
    hearSubscription([subscriber.socket]);
    expect(nextEvent()).toBe("connected");
  };

  /** Closes the subscriber, which has joined, and goes on with `successor`. */
  const replace = (successor: () => Subscriber) => {
    subscriber.close();
    hearSubscription([]); // the old one leaves
    subscriber = successor();
    join();
  };

  /** Lets the retry become overdue. */
  const passGrace = () => {
    expect(subscriber.connectionDueAtMs).toBe(clock.nowMs() + RETRY_GRACE_MS);
    expect(subscriber.connection()).toBeNull();
    clock.advance(RETRY_GRACE_MS);
  };

  beforeEach(() => {
    context = ZmqContext.create();
    publisher = context.openSocket("XPUB");
    endpoint = publisher.bind("tcp://127.0.0.1:0");
    subscriber = subscribe(TOPIC);
  });

  afterEach(() => {
    subscriber.close();
    publisher.close();
    context.terminate();
  });

  test("Subscriber receives batches in order, with their batch sequence and payload", () => {
    join();
    publisher.send(message(1, bytes("one")));
    publisher.send(message(Number.MAX_SAFE_INTEGER, bytes("")));
    expect(nextMessage()).toEqual({ kind: "batch", batchSeq: 1, payload: bytes("one") });
    expect(nextMessage()).toEqual({ kind: "batch", batchSeq: Number.MAX_SAFE_INTEGER, payload: bytes("") });
    expect(subscriber.receive()).toBeNull();
  });

  test("Subscriber receives a payload of exactly the largest size", () => {
    join();
    publisher.send(message(1, new Uint8Array(MAX_MESSAGE_BYTES).fill(9)));
    expect(nextMessage()).toEqual({ kind: "batch", batchSeq: 1, payload: new Uint8Array(MAX_MESSAGE_BYTES).fill(9) });
  });

  test("Subscriber tells a longer topic from its own", () => {
    join();
    publisher.send(message(1, bytes("other"), `${TOPIC}-2`));
    publisher.send(message(2, bytes("ours")));
    expect(nextMessage()).toEqual({ kind: "foreign-topic" });
    expect(nextMessage()).toMatchObject({ kind: "batch", batchSeq: 2 });
  });

  test("Subscriber takes an empty topic as exact as any other", () => {
    join();
    replace(() => subscribe(""));
    publisher.send(message(1, bytes("other"), "x"));
    publisher.send(message(2, bytes("ours"), ""));
    expect(nextMessage()).toEqual({ kind: "foreign-topic" });
    expect(nextMessage()).toMatchObject({ kind: "batch", batchSeq: 2 });
  });

  test("Subscriber tells malformed frames with their number, and goes on", () => {
    join();
    const malformed = [
      [bytes(TOPIC)],
      [bytes(TOPIC), bytes("payload")],
      [bytes(TOPIC), bytes("7 bytes"), bytes("payload")],
      [bytes(TOPIC), Uint8Array.fromHex("0020000000000000"), bytes("batch sequence 2^53")],
      [...message(1, bytes("payload")), bytes("more")],
    ];
    for (const frames of malformed) publisher.send(frames);
    publisher.send(message(2, bytes("good")));
    for (const { length } of malformed) expect(nextMessage()).toEqual({ kind: "malformed-frames", frames: length });
    expect(nextMessage()).toMatchObject({ kind: "batch", batchSeq: 2 });
  });

  test("Subscriber tells when its publisher goes, connects again by itself and never calls that oversized", () => {
    join();
    publisher.close();
    expect(nextEvent()).toBe("disconnected");
    waitUntil([subscriber.monitorSocket], () => {
      expect(subscriber.connection()).toBeNull();
      return subscriber.connectionDueAtMs === Number.POSITIVE_INFINITY ? true : null; // the retry has been seen
    });
    clock.advance(100 * RETRY_GRACE_MS);
    expect(subscriber.connection()).toBeNull();
    publisher = context.openSocket("XPUB");
    waitUntil([], () => tryBind(publisher, endpoint));
    join();
    publisher.send(message(1, bytes("back")));
    expect(nextMessage()).toMatchObject({ kind: "batch", batchSeq: 1 });
  });

  test("Subscriber tells of an oversized message, once, and its successor works", () => {
    join();
    publisher.send(message(1, bytes("good")));
    publisher.send(message(2, new Uint8Array(MAX_MESSAGE_BYTES + 1)));
    expect(nextMessage()).toMatchObject({ kind: "batch", batchSeq: 1 });
    expect(nextEvent()).toBe("disconnected");
    passGrace();
    expect(subscriber.connection()).toBe("oversized");
    expect(subscriber.connection()).toBeNull();
    expect(subscriber.receive()).toBeNull();
    replace(() => subscribe(TOPIC));
    publisher.send(message(3, bytes("good")));
    expect(nextMessage()).toMatchObject({ kind: "batch", batchSeq: 3 });
  });

  test("Subscriber tells of frames that are too large only together", () => {
    join();
    const options = { context, endpoint, topic: TOPIC, maxMessageBytes: 10_000, clock };
    replace(() => new Subscriber({ ...options, buffer: new MessageBuffer(10) }));
    publisher.send(message(1, new Uint8Array(9000)));
    publisher.send(message(2, bytes("good")));
    expect(nextMessage()).toEqual({ kind: "oversized" });
    expect(nextMessage()).toMatchObject({ kind: "batch", batchSeq: 2 });
  });

  test("Subscriber is refused by a socket that is no publisher", () => {
    join();
    publisher.close();
    subscriber.close();
    publisher = context.openSocket("ROUTER");
    endpoint = publisher.bind("tcp://127.0.0.1:0");
    subscriber = subscribe(TOPIC);
    waitUntil([subscriber.monitorSocket], () => {
      expect(subscriber.connection()).toBeNull();
      return subscriber.connectionDueAtMs < Number.POSITIVE_INFINITY ? true : null;
    });
    passGrace();
    expect(subscriber.connection()).toBe("refused");
  });

  test("Subscriber names an endpoint that makes no sense", () => {
    endpoint = "tcp://nowhere";
    expect(() => subscribe(TOPIC)).toThrow('Cannot connect "tcp://nowhere": EINVAL');
  });
});
