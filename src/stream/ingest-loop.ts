/**
 * The ingest thread's loop: waits for any stream's sockets, lets the streams that have something to do act, and takes the main
 * thread's commands in between. One stream's flood does not starve the others: each turn gives every ready stream its share.
 */

import { type Clock, type Logger, systemClock } from "#base";
import type { Engine, StreamDescription, StreamReport } from "#domain";
import { KvIndexWriter } from "#index";
import { type Dialect, dialectOf, MessageBuffer, Poller, WakeupListener, ZmqContext } from "#wire";
import { EventStream } from "./event-stream.ts";
import type { IngestCommand } from "./ingest-protocol.ts";
import { ZmqStreamSockets } from "./sockets.ts";
import { StreamIndex } from "./stream-index.ts";

/** The longest turn: how late a command comes that no wake-up call announces, and how often the pulse beats at least. */
const TURN_MS = 200;

interface RunningStream {
  events: EventStream;
  index: StreamIndex;
}

/** What the poller tells when a socket is readable; the stream is set once its sockets exist. */
type Owner = { events: EventStream | null };

export class IngestLoop {
  readonly #limits: (IngestCommand & { type: "start" })["limits"];
  readonly #pulse: Int32Array;
  readonly #curveKeys: (IngestCommand & { type: "start" })["curveKeys"];
  readonly #logger: Logger;
  readonly #clock: Clock = systemClock;
  readonly #context = ZmqContext.create();
  readonly #listener = new WakeupListener(this.#context);
  readonly #poller = new Poller<Owner>();
  readonly #dialects = new Map<Engine, Dialect>();
  readonly #buffer: MessageBuffer;
  readonly #writer: KvIndexWriter;
  readonly #streams = new Map<number, RunningStream>();
  readonly #busy = new Set<EventStream>();
  #isStopping = false;

  constructor({ index, limits, pulse, curveKeys }: IngestCommand & { type: "start" }, logger: Logger) {
    this.#limits = limits;
    this.#pulse = new Int32Array(pulse);
    this.#curveKeys = curveKeys;
    this.#logger = logger;
    this.#buffer = new MessageBuffer(limits.maxMessageBytes);
    this.#writer = new KvIndexWriter(index);
    this.#poller.add(this.#listener.socket, { events: null });
  }

  /** Where wake-up calls go. */
  get contextAddress(): number {
    return this.#context.address;
  }

  addStream(id: number, stream: StreamDescription): void {
    const index = new StreamIndex(id, stream, this.#writer, this.#dialect(stream.engine));
    index.open();
    const owner: Owner = { events: null };
    const events = new EventStream({
      stream,
      index,
      sockets: new ZmqStreamSockets(stream, this.#threadSockets(), owner),
      limits: this.#limits,
      clock: this.#clock,
      logger: this.#logger,
      random: Math.random,
    });
    owner.events = events;
    this.#streams.set(id, { events, index });
  }

  removeStream(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.events.close();
    stream.index.close();
    this.#busy.delete(stream.events);
    this.#streams.delete(id);
  }

  /** What each stream has gone through. */
  reports(): StreamReport[] {
    return [...this.#streams.values()].map(({ events, index }) => ({
      stream: events.description,
      batches: index.batches,
      events: { ...index.events },
      skippedEvents: index.skipped,
      drops: nonZero(events.drops),
      trailingBytes: index.trailingBytes,
      recoveriesAsked: events.recoveriesAsked,
      recoveriesAnswered: events.recoveriesAnswered,
      recoveries: events.counts.recoveries,
      problems: events.counts.problems,
      unsynchronizedMs: events.counts.unsynchronizedMs,
      lagMs: index.lagMs,
    }));
  }

  /** Ends the loop after the turn at hand. */
  stop(): void {
    this.#isStopping = true;
  }

  /**
   * Runs until `stop`. Then, and also when it fails, every socket is closed, so that a crash leaves no connection behind; after a
   * stop the context is ended as well, for which callers must have closed theirs.
   */
  async run(): Promise<void> {
    try {
      while (!this.#isStopping) await this.#turn();
    } finally {
      for (const { events } of this.#streams.values()) events.close();
      this.#poller.remove(this.#listener.socket);
      this.#listener.close();
    }
    this.#context.terminate();
  }

  async #turn(): Promise<void> {
    Atomics.add(this.#pulse, 0, 1);
    const ready = this.#poller.wait(this.#waitMs());
    const isCalled = this.#listener.drain();
    for (const { events } of ready) if (events !== null) this.#busy.add(events);
    this.#pumpBusy();
    this.#keepTime();
    // Commands are tasks of this thread's event loop, which runs only here: a steady flow of messages must not keep them out.
    if (isCalled || this.#busy.size === 0) await nextTask();
  }

  /** A dialect serves all streams of its engine: it keeps nothing between batches. */
  #dialect(engine: Engine): Dialect {
    const dialect = this.#dialects.get(engine) ?? dialectOf(engine);
    this.#dialects.set(engine, dialect);
    return dialect;
  }

  #threadSockets() {
    const { maxMessageBytes } = this.#limits;
    return {
      context: this.#context,
      buffer: this.#buffer,
      poller: this.#poller,
      clock: this.#clock,
      maxMessageBytes,
      curveKeys: this.#curveKeys,
    };
  }

  #pumpBusy(): void {
    for (const events of [...this.#busy]) {
      if (!events.pump()) this.#busy.delete(events);
    }
  }

  #keepTime(): void {
    const nowMs = this.#clock.nowMs();
    for (const { events } of this.#streams.values()) {
      if (events.nextDeadlineMs > nowMs) continue;
      events.onTime();
      this.#busy.add(events);
    }
  }

  #waitMs(): number {
    if (this.#busy.size > 0) return 0;
    let deadlineMs = this.#clock.nowMs() + TURN_MS;
    for (const { events } of this.#streams.values()) deadlineMs = Math.min(deadlineMs, events.nextDeadlineMs);
    return Math.max(0, deadlineMs - this.#clock.nowMs());
  }
}

function nonZero(counts: Readonly<Record<string, number>>): Partial<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
