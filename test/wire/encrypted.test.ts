import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type ConnectionEvent,
  type CurveClient,
  type CurveServer,
  createCurveKeyPair,
  MessageBuffer,
  RecoveryClient,
  Subscriber,
  ZmqContext,
  type ZmqSocket,
} from "#wire";
import { RETRY_GRACE_MS } from "../../src/wire/connection-watch.ts";
import { writeFrameNumber } from "../../src/wire/frame-number.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { tryBind } from "./loopback.ts";
import { waitUntil } from "./wait-until.ts";

const MESSAGE_BYTES_MAX = 2000;

const SERVER = createCurveKeyPair();
const OTHER = createCurveKeyPair();
const CLIENT = createCurveKeyPair();

const server: CurveServer = { role: "server", secretKey: SERVER.secretKey };
const knowing = (serverKey: string): CurveClient => ({ role: "client", serverKey, ...CLIENT });

const BROKEN_OFF = "handshake-broken-off";

/**
 * What goes wrong with which key in which hands (null: in the clear), and what is told. Of two sides that do not suit each other
 * the one that sees it later learns only that the other has closed.
 */
const FAILURES: [what: string, told: ConnectionEvent[], CurveServer | null, CurveClient | null][] = [
  ["the server has another key", [BROKEN_OFF], server, knowing(OTHER.publicKey)],
  ["the key cannot be one", ["handshake-failed"], server, knowing("0".repeat(40))],
  ["the server speaks in the clear", ["mechanism-mismatch", BROKEN_OFF], null, knowing(SERVER.publicKey)],
  ["only the server has a key", ["mechanism-mismatch", BROKEN_OFF], server, null],
];

function otherThan<Event>(unwanted: Event, event: Event | null): Event | null {
  return event === unwanted ? null : event;
}

describe("Encrypted sockets", () => {
  let context: ZmqContext;
  const clock = new FakeClock();
  const open: { close(): void }[] = [];

  beforeEach(() => {
    context = ZmqContext.create();
  });

  afterEach(() => {
    for (const socket of open.splice(0).reverse()) socket.close();
    context.terminate();
  });

  const kept = <Closeable extends { close(): void }>(socket: Closeable): Closeable => {
    open.push(socket);
    return socket;
  };

  const bound = (type: "XPUB" | "ROUTER", curve: CurveServer | null): { socket: ZmqSocket; endpoint: string } => {
    const socket = kept(context.openSocket(type, { curve }));
    return { socket, endpoint: socket.bind("tcp://127.0.0.1:0") };
  };

  const shared = (endpoint: string, curve: CurveClient | null) => ({
    context,
    endpoint,
    curve,
    maxMessageBytes: MESSAGE_BYTES_MAX,
    buffer: new MessageBuffer(MESSAGE_BYTES_MAX),
    clock,
  });

  const subscribe = (endpoint: string, curve: CurveClient | null) =>
    kept(new Subscriber({ ...shared(endpoint, curve), topic: "" }));

  const nextEvent = (subscriber: Subscriber) => waitUntil([subscriber.monitorSocket], () => subscriber.connection());

  /** A subscriber that misses nothing of what its publisher sends from now on. */
  const joined = () => {
    const { socket: publisher, endpoint } = bound("XPUB", server);
    const subscriber = subscribe(endpoint, knowing(SERVER.publicKey));
    const subscription = new MessageBuffer(10);
    waitUntil([publisher, subscriber.socket], () => (publisher.receive(subscription) === "message" ? true : null));
    expect(nextEvent(subscriber)).toBe("connected");
    return { publisher, subscriber };
  };

  const message = (payload: Uint8Array) => [new Uint8Array(0), writeFrameNumber(7), payload];

  test("Subscriber receives from an encrypted publisher whose key it knows, up to exactly the largest size", () => {
    const { publisher, subscriber } = joined();
    for (const payload of [new Uint8Array([1]), new Uint8Array(MESSAGE_BYTES_MAX).fill(9)]) {
      publisher.send(message(payload));
      const received = waitUntil([subscriber.socket], () => subscriber.receive());
      expect(received).toEqual({ kind: "batch", batchSeq: 7, payload });
    }
  });

  test("Subscriber tells of an encrypted message above the largest size", () => {
    const { publisher, subscriber } = joined();
    publisher.send(message(new Uint8Array(MESSAGE_BYTES_MAX + 1)));
    expect(nextEvent(subscriber)).toBe("disconnected");
    clock.advance(RETRY_GRACE_MS);
    expect(subscriber.connection()).toBe("oversized");
  });

  test("A socket with a small limit still takes part in the handshake", () => {
    const small = { maxMessageBytes: 1 };
    const publisher = kept(context.openSocket("XPUB", { curve: server, ...small }));
    const endpoint = publisher.bind("tcp://127.0.0.1:0");
    const curve = knowing(SERVER.publicKey);
    const subscriber = kept(new Subscriber({ ...shared(endpoint, curve), ...small, topic: "" }));
    expect(nextEvent(subscriber)).toBe("connected");
  });

  test.each(FAILURES)("Subscriber says so when %s: %p", (_what, told, ofServer, ofClient) => {
    const { endpoint } = bound("XPUB", ofServer);
    expect(told).toContain(nextEvent(subscribe(endpoint, ofClient)));
  });

  test("Subscriber connects by itself once its publisher has the key that it was told", () => {
    const { socket: stranger, endpoint } = bound("XPUB", { role: "server", secretKey: OTHER.secretKey });
    const subscriber = subscribe(endpoint, knowing(SERVER.publicKey));
    expect(nextEvent(subscriber)).toBe(BROKEN_OFF);
    stranger.close();
    const publisher = kept(context.openSocket("XPUB", { curve: server }));
    waitUntil([], () => tryBind(publisher, endpoint));
    expect(waitUntil([subscriber.monitorSocket], () => otherThan(BROKEN_OFF, subscriber.connection()))).toBe("connected");
  });

  test("RecoveryClient asks an encrypted engine whose key it knows", () => {
    const { socket: router, endpoint } = bound("ROUTER", server);
    const client = kept(new RecoveryClient({ ...shared(endpoint, knowing(SERVER.publicKey)), answers: "snapshot" }));
    client.ask(0);
    const request = new MessageBuffer(100);
    waitUntil([router, client.socket], () => (router.receive(request) === "message" ? true : null));
    router.send([request.frame(0).slice(), new Uint8Array(0), writeFrameNumber(7), new Uint8Array([1])]);
    const reply = waitUntil([client.socket], () => client.receive());
    expect(reply).toEqual({ kind: "snapshot", watermark: 7, payload: new Uint8Array([1]) });
  });

  // In the clear a handshake that is broken off is left to the request's timeout.
  const encryptedFailures = FAILURES.filter(([, , , ofClient]) => ofClient !== null);

  test.each(encryptedFailures)("RecoveryClient fails when %s: %p", (_what, told, ofServer, ofClient) => {
    const { endpoint } = bound("ROUTER", ofServer);
    const client = kept(new RecoveryClient({ ...shared(endpoint, ofClient), answers: "snapshot" }));
    client.ask(0);
    const { kind } = waitUntil([client.socket, client.monitorSocket], () => client.receive());
    expect(told as string[]).toContain(kind);
  });

  test("ZmqSocket refuses a key that is none, and does not repeat it", () => {
    const wrong = { role: "server", secretKey: "no key" } as const;
    expect(() => context.openSocket("PUB", { curve: wrong })).toThrow(/^Cannot set socket option 49: EINVAL \([^)]*\)$/);
  });
});
