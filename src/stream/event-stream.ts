/**
 * The edge of one stream: turns sockets and timers into events, and has the effects performed that the transition asks for. It
 * decides nothing. Whoever runs it calls `pump` when something may have arrived and `onTime` when a deadline has come.
 */

import type { Clock, Logger } from "#base";
import type { StreamDescription } from "#domain";
import type { RecoveryReply } from "#wire";
import { RecentBatches } from "./recent-batches.ts";
import type { StreamSockets } from "./sockets.ts";
import type { Drop, Effect, StreamEvent, StreamState, TransitionLimits } from "./state.ts";
import { StreamCounts } from "./stream-counts.ts";
import { StreamEffects, type StreamEffectsParts } from "./stream-effects.ts";
import { connectionEvent, type Listener, replyEvent, strayEvent } from "./stream-events.ts";
import type { HeldBatch, StreamIndex } from "./stream-index.ts";
import { StreamLog } from "./stream-log.ts";
import { Timers } from "./timers.ts";
import { begin, transition } from "./transition.ts";

/** Messages that one stream may take before the others have their turn. */
const MESSAGES_PER_PUMP = 64;

/** What holding a batch costs beside its payload: its record and its buffer's header. */
const RECORD_BYTES = 128;

/** More than a subscriber's queue holds. */
const STALE_MESSAGES_MAX = 4096;

export interface EventStreamLimits extends Omit<TransitionLimits, "recovery"> {
  maxMessageBytes: number;
  resyncIntervalMs: number;
}

export interface EventStreamParts {
  stream: StreamDescription;
  index: StreamIndex;
  sockets: StreamSockets;
  limits: EventStreamLimits;
  clock: Clock;
  logger: Logger;
  /** In [0, 1), for jitter. */
  random: () => number;
}

/** xLLM engines answer with their whole state; the others, where they answer, with their last batches. */
function recoveryOf({ engine, replayEndpoint }: StreamDescription): TransitionLimits["recovery"] {
  if (engine === "xllm") return "snapshot";
  return replayEndpoint === null ? "none" : "replay";
}

export class EventStream {
  readonly #parts: EventStreamParts;
  readonly #limits: TransitionLimits & EventStreamLimits;
  readonly #listener: Listener;
  readonly #timers: Timers;
  readonly #counts: StreamCounts;
  readonly #effects: StreamEffects;
  readonly #log: StreamLog;
  readonly #recent = new RecentBatches();
  #answered = 0;
  #state: StreamState;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
    this.#limits = { ...parts.limits, recovery: recoveryOf(parts.stream) };
    this.#listener = {
      maxMessageBytes: parts.limits.maxMessageBytes,
      hasCurveKey: parts.stream.curveServerKey !== null,
    };
    this.#timers = new Timers(parts.clock);
    this.#log = new StreamLog(parts.stream, parts.index, parts.logger);
    this.#counts = new StreamCounts(parts.clock, this.#limits);
    const onStatus: StreamEffectsParts["onStatus"] = (problem, batchSeq) => {
      this.#counts.status(problem);
      this.#log.status(problem, batchSeq);
    };
    this.#effects = new StreamEffects({ ...parts, limits: this.#limits, timers: this.#timers, onStatus });
    const { state, effects } = begin();
    this.#state = state;
    this.#perform(effects);
  }

  get state(): StreamState {
    return this.#state;
  }

  get description(): StreamDescription {
    return this.#parts.stream;
  }

  /** Snapshots and replays asked for. */
  get recoveriesAsked(): number {
    return this.#effects.asked;
  }

  /** Of those, answered up to the end marker. */
  get recoveriesAnswered(): number {
    return this.#answered;
  }

  /** Why it was not synchronized and for how long, and how recoveries ended. */
  get counts(): Pick<StreamCounts, "problems" | "recoveries" | "unsynchronizedMs"> {
    return this.#counts;
  }

  /** Messages and checks not used, by reason. */
  get drops(): Readonly<Record<Drop, number>> {
    return this.#effects.drops;
  }

  /** Clock time at which `onTime` or `pump` has something to do although nothing arrives. */
  get nextDeadlineMs(): number {
    return Math.min(this.#timers.nextDeadlineMs, this.#parts.sockets.dueAtMs);
  }

  /**
   * Takes in what has arrived, at most MESSAGES_PER_PUMP messages; true when there may be more. Changes of the connection come
   * first, and messages count only while there is one: a batch of one connection is never taken for another's.
   */
  pump(): boolean {
    const { sockets } = this.#parts;
    const limits = this.#limits;
    for (let event = sockets.connection(); event !== null; event = sockets.connection()) {
      if (event === "connected") this.#discardStale();
      this.#feed(connectionEvent(event, this.#listener));
    }
    if (this.#state.kind === "connecting") this.#discardStale();
    let taken = 0;
    for (let message = sockets.receive(); message !== null; message = taken < MESSAGES_PER_PUMP ? sockets.receive() : null) {
      taken += 1;
      if (message.kind === "batch") this.#onBatch(message);
      else this.#onStray(strayEvent(message, limits.maxMessageBytes));
    }
    let answers = 0;
    for (
      let reply = sockets.receiveReply();
      reply !== null;
      reply = answers < MESSAGES_PER_PUMP ? sockets.receiveReply() : null
    ) {
      answers += 1;
      this.#onReply(reply);
    }
    return Math.max(taken, answers) === MESSAGES_PER_PUMP;
  }

  /** Lets the timers whose time has come act. */
  onTime(): void {
    for (let timer = this.#timers.takeDue(); timer !== null; timer = this.#timers.takeDue()) this.#feed({ type: "timer", timer });
  }

  /** Closes the sockets; the index is the caller's to clear. */
  close(): void {
    this.#parts.sockets.endRecovery();
    this.#parts.sockets.closeSubscriber();
  }

  /**
   * What a lost connection left in the queue, even some time after it was lost, must not meet the next process's snapshot.
   * Should messages of the next connection be among it, that snapshot includes them, since it is asked for later.
   */
  #discardStale(): void {
    for (let taken = 0; taken < STALE_MESSAGES_MAX && this.#parts.sockets.receive() !== null; taken++) {
      this.#effects.drops["stale-message"] += 1;
    }
  }

  #onBatch(batch: HeldBatch): void {
    const { batchSeq, payload } = batch;
    const isRepeat = this.#recent.isRepeat(batchSeq, payload);
    const isInOrder = this.#state.kind === "live" && batchSeq === this.#state.batchSeq + 1;
    this.#effects.batchAtHand = batch;
    const isFullState = !isInOrder && this.#parts.index.holdsFullState(payload);
    this.#feed({ type: "batch", batchSeq, bytes: payload.length + RECORD_BYTES, isRepeat, isFullState });
    this.#effects.batchAtHand = null;
  }

  #onReply(reply: RecoveryReply): void {
    if (reply.kind === "batch") {
      const { batchSeq, payload } = reply;
      this.#recent.remember(batchSeq, payload);
      this.#effects.batchAtHand = { batchSeq, payload };
      this.#feed({ type: "replayed", batchSeq, isKnown: this.#parts.index.isLast(batchSeq, payload) });
      this.#effects.batchAtHand = null;
      return;
    }
    if (reply.kind === "end") this.#answered += 1;
    const asked = this.#limits.recovery === "snapshot" ? "snapshot" : "replay";
    this.#effects.snapshotAtHand = reply.kind === "snapshot" ? reply.payload : null;
    this.#feed(replyEvent(reply, this.#listener, asked));
  }

  #onStray(event: StreamEvent | null): void {
    if (event === null) this.#effects.drops["foreign-topic"] += 1;
    else this.#feed(event);
  }

  #feed(event: StreamEvent): void {
    const { state, effects } = transition(this.#state, event, this.#limits);
    this.#counts.moved(this.#state, event, state);
    this.#state = state;
    this.#perform(effects);
  }

  #perform(effects: readonly Effect[]): void {
    const outcomes: StreamEvent[] = [];
    for (const effect of effects) {
      const outcome = this.#effects.perform(effect);
      if (outcome !== null) outcomes.push(outcome);
    }
    for (const outcome of outcomes) this.#feed(outcome);
    this.#log.leftOut();
  }
}
