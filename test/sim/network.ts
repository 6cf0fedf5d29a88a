/**
 * The network between one publisher and one stream, in memory: what the wire room would hand over, when it would. The live
 * connection and the recovery connection each keep their order; between the two there is none.
 */

import type { Clock } from "#base";
import type { SeededRandom } from "#sim";
import type { StreamSockets } from "#stream";
import type { ConnectionEvent, ReceivedBatch, RecoveryReply } from "#wire";
import type { Faults } from "./faults.ts";
import { faultyBatch, faultyReplay, faultySnapshot, type RecoveryKind } from "./faulty-messages.ts";
import type { Batch, Publisher } from "./publisher.ts";
import { TimedQueue } from "./timed-queue.ts";

/** libzmq connects again after this. */
const RECONNECT_MS = { least: 100, most: 2000 };
/** An old batch that comes again is one of so many. */
const REPEATABLE_BATCHES = 8;
/** Between a lost connection and the word that it will not come back. */
const GIVE_UP_MS = 500;

interface Subscription {
  /** The process at the other end; null while there is none. */
  publisher: Publisher | null;
  /** When libzmq tries to connect; Infinity while it need not, and for ever once it has given up. */
  connectAtMs: number;
  messages: TimedQueue<ReceivedBatch>;
  events: TimedQueue<{ event: ConnectionEvent; publisher: Publisher | null }>;
}

interface Request {
  /** When the engine takes it; Infinity once it has, or when it never will. */
  serveAtMs: number;
  start: number;
  replies: TimedQueue<RecoveryReply>;
}

export interface NetworkParts {
  clock: Clock;
  random: SeededRandom;
  faults: Faults;
  recovery: RecoveryKind;
  trace: (text: string) => void;
}

export class SimulatedNetwork implements StreamSockets {
  readonly #parts: NetworkParts;
  /** The process that listens now; null while there is none. */
  #publisher: Publisher | null;
  #subscription: Subscription | null = null;
  #request: Request | null = null;
  #recent: readonly Batch[] = [];

  /** The engine takes requests and does not answer. */
  isSilent = false;
  /** The process of the connection that the stream was told of last. */
  knownPublisher: Publisher | null = null;
  readonly dueAtMs = Number.POSITIVE_INFINITY;

  constructor(publisher: Publisher, parts: NetworkParts) {
    this.#publisher = publisher;
    this.#parts = parts;
  }

  // What the stream does.

  openSubscriber(): void {
    const connectAtMs = this.#nowMs + this.#parts.random.integerBelow(50);
    this.#subscription = { publisher: null, connectAtMs, messages: new TimedQueue(), events: new TimedQueue() };
  }

  closeSubscriber(): void {
    this.#subscription = null;
  }

  connection(): ConnectionEvent | null {
    const next = this.#subscription?.events.take(this.#nowMs) ?? null;
    if (next === null) return null;
    if (next.publisher !== null) this.knownPublisher = next.publisher;
    this.#parts.trace(`stream learns: ${next.event}`);
    return next.event;
  }

  receive(): ReceivedBatch | null {
    const message = this.#subscription?.messages.take(this.#nowMs) ?? null;
    if (message !== null) this.#parts.trace(`stream receives ${message.kind === "batch" ? message.batchSeq : message.kind}`);
    return message;
  }

  ask(start: number): void {
    const { random, faults, recovery, trace } = this.#parts;
    trace(`stream asks for a ${recovery} from ${start}`);
    const lateMs = faults.happens("snapshot served late") ? random.integerBelow(300) : 0;
    const serveAtMs = faults.happens("request lost") ? Number.POSITIVE_INFINITY : this.#nowMs + 1 + lateMs;
    this.#request = { serveAtMs, start, replies: new TimedQueue() };
  }

  receiveReply(): RecoveryReply | null {
    const reply = this.#request?.replies.take(this.#nowMs) ?? null;
    if (reply?.kind === "snapshot") this.#parts.trace(`stream receives snapshot ${reply.watermark}`);
    else if (reply?.kind === "batch") this.#parts.trace(`stream receives replayed ${reply.batchSeq}`);
    else if (reply !== null) this.#parts.trace(`stream receives reply: ${reply.kind}`);
    return reply;
  }

  endRecovery(): void {
    this.#request = null;
  }

  // What the world does.

  /** The time at which something happens next by itself. */
  get nextAtMs(): number {
    const { messages, events, connectAtMs = Number.POSITIVE_INFINITY } = this.#subscription ?? {};
    const { replies, serveAtMs = Number.POSITIVE_INFINITY } = this.#request ?? {};
    const arrivals = [messages, events, replies].map((queue) => queue?.nextAtMs ?? Number.POSITIVE_INFINITY);
    return Math.min(connectAtMs, serveAtMs, ...arrivals);
  }

  /** Lets happen what is due: connections are made, requests answered. */
  tick(): void {
    const publisher = this.#publisher;
    if (publisher === null) return;
    if (this.#subscription !== null && this.#subscription.connectAtMs <= this.#nowMs) {
      this.#subscription.publisher = publisher;
      this.#subscription.connectAtMs = Number.POSITIVE_INFINITY;
      this.#subscription.events.put({ event: "connected", publisher }, this.#nowMs);
    }
    if (this.#request !== null && this.#request.serveAtMs <= this.#nowMs) this.#serve(this.#request, publisher);
  }

  /** The publisher sends a batch to whoever is connected. */
  publish(batch: Batch): void {
    const { trace, faults, recovery } = this.#parts;
    trace(`publishes ${batch.batchSeq}`);
    this.#recent = [...this.#recent.slice(1 - REPEATABLE_BATCHES), batch];
    if (this.#subscription?.publisher !== this.#publisher) return;
    if (batch.batchSeq > 0 && faults.happens("frame oversized")) this.#giveUp();
    else for (const message of faultyBatch(batch, this.#recent, recovery, this.#parts)) this.#send(message);
  }

  /** The process dies; null, or another process, takes its place. */
  replace(publisher: Publisher | null): void {
    this.#publisher = publisher;
    this.#recent = [];
    if (this.#request !== null && this.#parts.random.integerBelow(2) === 0) this.#request.serveAtMs = Number.POSITIVE_INFINITY;
    this.disconnect();
  }

  /** The live connection breaks. What was under way is lost, or arrives before the word of it, or after. */
  disconnect(): void {
    if (this.#subscription === null || this.#subscription.publisher === null) return;
    const { messages, events } = this.#subscription;
    this.#settleLeftBehind(messages);
    this.#subscription.publisher = null;
    this.#subscription.connectAtMs = this.#nowMs + this.#parts.random.integerBetween(RECONNECT_MS.least, RECONNECT_MS.most);
    events.put({ event: "disconnected", publisher: null }, this.#nowMs);
  }

  get #nowMs(): number {
    return this.#parts.clock.nowMs();
  }

  #send(message: ReceivedBatch): void {
    const delayMs = this.#parts.faults.happens("batch delayed") ? this.#parts.random.integerBelow(600) : 0;
    this.#subscription?.messages.put(message, this.#nowMs + delayMs);
  }

  /** libzmq ends a connection on which a frame is too large, and never makes it again. */
  #giveUp(): void {
    const subscription = this.#subscription;
    this.disconnect();
    if (subscription === null) return;
    subscription.connectAtMs = Number.POSITIVE_INFINITY;
    subscription.events.put({ event: "oversized", publisher: null }, this.#nowMs + GIVE_UP_MS);
  }

  #settleLeftBehind(messages: TimedQueue<ReceivedBatch>): void {
    if (messages.length === 0) return;
    const { faults, random } = this.#parts;
    if (faults.happens("messages lost on the way")) messages.cut(messages.receivedBy(this.#nowMs));
    const isLate = faults.happens("messages left behind late");
    messages.moveAllTo(this.#nowMs + (isLate ? random.integerBelow(RECONNECT_MS.least) : 0));
  }

  #serve(request: Request, publisher: Publisher): void {
    request.serveAtMs = Number.POSITIVE_INFINITY;
    if (this.isSilent) return;
    const { faults, random } = this.#parts;
    let delayMs = faults.happens("reply delayed") ? random.integerBelow(300) : 0;
    if (faults.happens("reply too late")) delayMs = 1_000_000;
    const isReplay = this.#parts.recovery === "replay";
    const replies = isReplay ? faultyReplay(publisher, request.start, this.#parts) : faultySnapshot(publisher, this.#parts);
    for (const reply of replies) {
      request.replies.put(reply, this.#nowMs + delayMs);
      delayMs += random.integerBelow(isReplay ? 4 : 20);
    }
  }
}
