import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MessageBuffer, type RecoveryAnswers, RecoveryClient, ZmqContext, type ZmqSocket } from "#wire";
import { RETRY_GRACE_MS } from "../../src/wire/connection-watch.ts";
import { writeFrameNumber } from "../../src/wire/frame-number.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { reserveEndpoint, tryBind } from "./loopback.ts";
import { waitUntil } from "./wait-until.ts";

const MAX_MESSAGE_BYTES = 1000;
const EMPTY = new Uint8Array(0);
const END_MARKER = new Uint8Array(8).fill(0xff);
const bytes = (text: string) => new TextEncoder().encode(text);

describe("RecoveryClient", () => {
  let context: ZmqContext;
  let engine: ZmqSocket;
  let client: RecoveryClient;
  let endpoint: string;
  const clock = new FakeClock();

  const createClient = (answers: RecoveryAnswers = "snapshot") =>
    new RecoveryClient({
      context,
      endpoint,
      answers,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      buffer: new MessageBuffer(MAX_MESSAGE_BYTES),
      clock,
    });
  const nextReply = () => waitUntil([client.socket, client.monitorSocket], () => client.receive());

  /** The engine's side: takes one request; its identity frame and the frames behind it as hex. */
  const takeRequest = () => {
    const buffer = new MessageBuffer(1000);
    waitUntil([engine], () => (engine.receive(buffer) === "message" ? true : null));
    const frames = Array.from({ length: buffer.frameCount - 1 }, (_, index) => buffer.frame(index + 1).toHex());
    return { identity: buffer.frame(0).slice(), frames };
  };

  beforeEach(() => {
    context = ZmqContext.create();
    engine = context.openSocket("ROUTER");
    endpoint = engine.bind("tcp://127.0.0.1:0");
    client = createClient();
  });

  afterEach(() => {
    client.close();
    engine.close();
    context.terminate();
  });

  test("RecoveryClient asks with a start and receives the snapshot and its end", () => {
    client.ask(0x0102_0304_05);
    const { identity, frames } = takeRequest();
    expect(frames).toEqual(["", "0000000102030405"]);
    engine.send([identity, EMPTY, writeFrameNumber(4711), bytes("state")]);
    engine.send([identity, EMPTY, END_MARKER, EMPTY]);
    expect(nextReply()).toEqual({ kind: "snapshot", watermark: 4711, payload: bytes("state") });
    expect(nextReply()).toEqual({ kind: "end" });
    expect(client.receive()).toBeNull();
  });

  test("RecoveryClient asks an endpoint that is not up yet", () => {
    client.close();
    engine.close();
    endpoint = reserveEndpoint();
    client = createClient();
    client.ask(1);
    expect(client.receive()).toBeNull();
    engine = context.openSocket("ROUTER");
    engine.bind(endpoint);
    expect(takeRequest().frames).toEqual(["", "0000000000000001"]);
  });

  test("RecoveryClient never sees the reply to a request before it", () => {
    client.ask(1);
    const first = takeRequest();
    client.close();
    client = createClient();
    client.ask(2);
    const second = takeRequest();
    engine.send([first.identity, EMPTY, writeFrameNumber(1), bytes("late")]);
    engine.send([second.identity, EMPTY, writeFrameNumber(2), bytes("state")]);
    expect(nextReply()).toMatchObject({ kind: "snapshot", watermark: 2 });
  });

  /** A client that asks for batches, and how to answer it. */
  const askForBatches = (start: number) => {
    client.close();
    client = createClient("batches");
    client.ask(start);
    const { identity } = takeRequest();
    return (...frames: Uint8Array[]) => engine.send([identity, ...frames]);
  };

  test.each([
    ["without topic", []],
    ["with an empty topic", [EMPTY]],
    ["with a topic", [bytes("kv@instance")]],
  ])("RecoveryClient receives batches %s and their end", (_name, topic) => {
    const answer = askForBatches(7);
    answer(EMPTY, ...topic, writeFrameNumber(7), bytes("seventh"));
    answer(EMPTY, ...topic, writeFrameNumber(8), EMPTY);
    answer(EMPTY, ...topic, END_MARKER, EMPTY);
    expect(nextReply()).toEqual({ kind: "batch", batchSeq: 7, payload: bytes("seventh") });
    expect(nextReply()).toEqual({ kind: "batch", batchSeq: 8, payload: EMPTY });
    expect(nextReply()).toEqual({ kind: "end" });
    expect(client.receive()).toBeNull();
  });

  test("RecoveryClient takes a topic that looks like a number or an end for a topic", () => {
    const answer = askForBatches(0);
    answer(EMPTY, writeFrameNumber(5), writeFrameNumber(6), bytes("sixth"));
    answer(EMPTY, END_MARKER, writeFrameNumber(7), bytes("seventh"));
    expect(nextReply()).toEqual({ kind: "batch", batchSeq: 6, payload: bytes("sixth") });
    expect(nextReply()).toEqual({ kind: "batch", batchSeq: 7, payload: bytes("seventh") });
  });

  test("RecoveryClient tells malformed batches, and goes on", () => {
    const answer = askForBatches(0);
    const malformed = [
      [EMPTY, writeFrameNumber(1)],
      [bytes("x"), writeFrameNumber(1), bytes("batch")],
      [EMPTY, EMPTY, bytes("7 bytes"), bytes("batch")],
      [EMPTY, EMPTY, Uint8Array.fromHex("0020000000000000"), bytes("batch 2^53")],
      [EMPTY, EMPTY, END_MARKER, bytes("an end that is not empty")],
      [EMPTY, EMPTY, writeFrameNumber(1), bytes("batch"), bytes("more")],
    ];
    for (const frames of malformed) answer(...frames);
    answer(EMPTY, writeFrameNumber(1), bytes("batch"));
    for (const _ of malformed) expect(nextReply()).toEqual({ kind: "malformed" });
    expect(nextReply()).toEqual({ kind: "batch", batchSeq: 1, payload: bytes("batch") });
  });

  test("RecoveryClient receives every batch of a large replay in order", () => {
    const batches = 10_000;
    engine.close();
    engine = context.openSocket("ROUTER", { sendQueueMessages: batches + 1 });
    endpoint = engine.bind("tcp://127.0.0.1:0");
    const answer = askForBatches(0);
    for (let batchSeq = 0; batchSeq < batches; batchSeq++) answer(EMPTY, writeFrameNumber(batchSeq), EMPTY);
    answer(EMPTY, END_MARKER, EMPTY);
    for (let batchSeq = 0; batchSeq < batches; batchSeq++) {
      const reply = nextReply();
      if (reply.kind !== "batch" || reply.batchSeq !== batchSeq)
        expect(reply).toEqual({ kind: "batch", batchSeq, payload: EMPTY });
    }
    expect(nextReply()).toEqual({ kind: "end" });
  });

  test("RecoveryClient tells malformed replies, and goes on", () => {
    client.ask(1);
    const { identity } = takeRequest();
    const malformed = [
      [EMPTY],
      [EMPTY, writeFrameNumber(1)],
      [bytes("x"), writeFrameNumber(1), bytes("state")],
      [EMPTY, bytes("7 bytes"), bytes("state")],
      [EMPTY, Uint8Array.fromHex("0020000000000000"), bytes("watermark 2^53")],
      [EMPTY, END_MARKER, bytes("an end that is not empty")],
      [EMPTY, writeFrameNumber(1), bytes("state"), bytes("more")],
      [EMPTY, EMPTY, writeFrameNumber(1), bytes("behind a topic")],
    ];
    for (const frames of malformed) engine.send([identity, ...frames]);
    engine.send([identity, EMPTY, writeFrameNumber(0), EMPTY]);
    for (const _ of malformed) expect(nextReply()).toEqual({ kind: "malformed" });
    expect(nextReply()).toEqual({ kind: "snapshot", watermark: 0, payload: EMPTY });
  });

  test("RecoveryClient tells of a snapshot above the limit", () => {
    client.ask(1);
    const { identity } = takeRequest();
    engine.send([identity, EMPTY, writeFrameNumber(1), new Uint8Array(MAX_MESSAGE_BYTES + 1)]);
    waitUntil([client.monitorSocket], () => {
      expect(client.receive()).toBeNull();
      return client.dueAtMs < Number.POSITIVE_INFINITY ? true : null;
    });
    clock.advance(RETRY_GRACE_MS);
    expect(client.receive()).toEqual({ kind: "oversized" });
    expect(client.receive()).toBeNull();
  });

  test("RecoveryClient is refused by a socket that is no recovery endpoint", () => {
    client.close();
    engine.close();
    engine = context.openSocket("PUB");
    endpoint = engine.bind("tcp://127.0.0.1:0");
    client = createClient();
    client.ask(1);
    waitUntil([client.monitorSocket], () => {
      expect(client.receive()).toBeNull();
      return client.dueAtMs < Number.POSITIVE_INFINITY ? true : null;
    });
    clock.advance(RETRY_GRACE_MS);
    expect(client.receive()).toEqual({ kind: "refused" });
  });

  test("RecoveryClient stays silent about an engine that goes away, and connects to the next", () => {
    client.ask(1);
    takeRequest();
    engine.close();
    engine = context.openSocket("ROUTER");
    waitUntil([client.monitorSocket], () => {
      expect(client.receive()).toBeNull();
      return tryBind(engine, endpoint);
    });
    const buffer = new MessageBuffer(1000);
    waitUntil([engine, client.monitorSocket], () => {
      client.ask(2);
      expect(client.receive()).toBeNull();
      return engine.receive(buffer) === "message" ? true : null;
    });
    clock.advance(100 * RETRY_GRACE_MS);
    expect(client.receive()).toBeNull();
  });

  test("RecoveryClient names an endpoint that makes no sense", () => {
    endpoint = "tcp://nowhere";
    expect(createClient).toThrow('Cannot connect "tcp://nowhere": EINVAL');
  });
});
