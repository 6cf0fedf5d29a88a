/**
 * Performs what a transition asks for: on the sockets, the timers and the index. What a payload is needed for happens while it
 * is at hand, that is until the next receive; what must outlive that is copied.
 */

import { assert, backoffDelayMs } from "#base";
import { type Unsynchronized, unsynchronized } from "#domain";
import { CurveUnavailableError, ZmqError } from "#wire";
import type { StreamSockets } from "./sockets.ts";
import { DROPS, type Drop, type Effect, type StreamEvent, type Timer, type TransitionLimits } from "./state.ts";
import type { Adoption, HeldBatch, StreamIndex } from "./stream-index.ts";
import type { Timers } from "./timers.ts";

/** A state that has lasted this long is recovered at once when it is lost; until then recoveries back off. */
const SETTLE_MS = 1000;

const RETRY = { firstMs: 1000, maxMs: 30_000 };

export interface StreamEffectsParts {
  index: StreamIndex;
  sockets: StreamSockets;
  timers: Timers;
  limits: TransitionLimits & { resyncIntervalMs: number };
  /** In [0, 1), for jitter. */
  random: () => number;
  /** Told of every change between synchronized (null) and not. */
  onStatus: (problem: Unsynchronized | null, batchSeq: number) => void;
}

export class StreamEffects {
  readonly #parts: StreamEffectsParts;
  #held: HeldBatch[] = [];
  #snapshot: Uint8Array | null = null;

  /** The live or replayed batch, and the snapshot's payload, that was just received. */
  batchAtHand: HeldBatch | null = null;
  snapshotAtHand: Uint8Array | null = null;

  /** Snapshots and replays asked for. */
  asked = 0;

  /** Messages and checks not used, by reason. */
  readonly drops: Record<Drop, number> = Object.fromEntries(DROPS.map((drop) => [drop, 0])) as Record<Drop, number>;

  constructor(parts: StreamEffectsParts) {
    this.#parts = parts;
  }

  /** Performs one effect; returns what has come of it, for the stream to learn after the effects that came with it. */
  perform(effect: Effect): StreamEvent | null {
    const { index, sockets, timers, random } = this.#parts;
    switch (effect.type) {
      case "open-subscriber":
        return this.#opened("subscriber-lost", () => sockets.openSubscriber());
      case "close-subscriber":
        sockets.closeSubscriber();
        return null;
      case "ask-snapshot":
        // The engine answers with its whole state whatever the number.
        return this.#opened("request-failed", () => sockets.ask(0));
      case "ask-replay":
        return this.#opened("request-failed", () => sockets.ask(effect.from));
      case "apply-replayed": {
        const problem = index.keep(this.#batch().batchSeq, this.#batch().payload);
        return problem === null ? { type: "replay-applied" } : { type: "replay-apply-failed", problem };
      }
      case "show-held":
        return this.#adopted(index.showHeld(effect.after, this.#held));
      case "forget":
        index.forget();
        return null;
      case "end-recovery":
        sockets.endRecovery();
        this.#snapshot = null;
        this.#held = [];
        return null;
      case "keep-snapshot":
        assert(this.snapshotAtHand !== null, "a snapshot is kept while it is at hand");
        this.#snapshot = this.snapshotAtHand.slice();
        return null;
      case "hold-batch": {
        const { batchSeq, payload } = this.#batch();
        this.#held.push({ batchSeq, payload: payload.slice() });
        return null;
      }
      case "release-held":
        this.#held = [];
        return null;
      case "apply-batch": {
        const problem = index.apply(this.#batch().batchSeq, this.#batch().payload);
        return problem === null ? null : { type: "batch-failed", problem };
      }
      case "adopt-batch":
        return this.#adopted(index.adoptBatch(this.#batch().batchSeq, this.#batch().payload));
      case "adopt-snapshot":
        assert(this.#snapshot !== null, "a snapshot is adopted after it was kept");
        return this.#adopted(index.adoptSnapshot(effect.watermark, this.#snapshot, this.#held));
      case "unsynchronize":
        index.hide(effect.problem);
        this.#parts.onStatus(effect.problem, 0);
        return null;
      case "start-timer":
        timers.start(effect.timer, this.#delayMs(effect.timer));
        return null;
      case "start-retry":
        timers.start("retry", backoffDelayMs(effect.attempt, RETRY, random()));
        return null;
      case "stop-timer":
        timers.stop(effect.timer);
        return null;
      case "count":
        this.drops[effect.drop] += 1;
        return null;
    }
  }

  #batch(): HeldBatch {
    assert(this.batchAtHand !== null, "a batch is used while it is at hand");
    return this.batchAtHand;
  }

  #adopted(adoption: Adoption): StreamEvent {
    switch (adoption.kind) {
      case "adopted":
        this.#parts.onStatus(null, adoption.batchSeq);
        return { type: "adopted", batchSeq: adoption.batchSeq, isEmpty: adoption.isEmpty };
      case "unreadable":
        return { type: "request-failed", problem: adoption.problem };
      case "unfit":
        return { type: "adopt-failed", problem: adoption.problem };
    }
  }

  /** A socket that cannot be opened, for want of file descriptors above all, counts as a lost one: it is tried again later. */
  #opened(failure: "subscriber-lost" | "request-failed", open: () => void): StreamEvent | null {
    if (failure === "request-failed") this.asked += 1;
    try {
      open();
      return null;
    } catch (error) {
      return { type: failure, problem: openingProblem(error) };
    }
  }

  #delayMs(timer: Exclude<Timer, "retry">): number {
    const { limits, random } = this.#parts;
    switch (timer) {
      case "answer":
        return limits.replayTimeoutMs;
      case "resync":
        // Earlier by up to a quarter, so that streams that began together do not all ask at once.
        return limits.resyncIntervalMs * (1 - random() / 4);
      case "settle":
        return SETTLE_MS;
    }
  }
}

function openingProblem(error: unknown): Unsynchronized {
  if (error instanceof CurveUnavailableError) return unsynchronized("curve-unavailable");
  if (error instanceof ZmqError) return unsynchronized("socket-failed", error.errno);
  throw error;
}
