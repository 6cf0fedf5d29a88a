/**
 * The transition with the world around it in miniature: which timers run, whether a subscriber and a request are open, what is
 * held, which batch's state the index holds. Only what can happen there is fed, so whatever a property finds can happen to a
 * stream.
 */

import { type Unsynchronized, unsynchronized } from "#domain";
import {
  type Effect,
  NONE,
  type StreamEvent,
  type StreamState,
  type Timer,
  type TransitionLimits,
} from "../../src/stream/state.ts";
import { begin, transition } from "../../src/stream/transition.ts";

/** What the next adoption, or the next batch applied, comes to. */
export type AdoptionOutcome = "adopted" | "unfit" | "unreadable";

const TOO_LARGE = unsynchronized("memory-limit");

/** What the index holds is the state of no batch. */
const BROKEN = -2;

export class ModelledStream {
  state: StreamState;
  readonly timers = new Set<Timer>();
  isSubscriberOpen = false;
  isAsking = false;
  isSynchronized = false;
  heldBytes = 0;
  heldBytesMost = 0;
  adoptions = 0;
  requests = 0;
  nextAdoption: AdoptionOutcome = "adopted";
  /** The batch whose state the index holds; NONE while it holds nothing, BROKEN for the state of none. */
  indexed = NONE;
  /** Numbers of the batches held. */
  held: number[] = [];
  readonly #limits: TransitionLimits;
  #hasSnapshot = false;
  #atHand = { batchSeq: NONE, bytes: 0 };

  constructor(limits: TransitionLimits) {
    this.#limits = limits;
    const { state, effects } = begin();
    this.state = state;
    this.#perform(effects);
  }

  /** Feeds the event if it can happen now; true when it could. */
  feed(event: StreamEvent): boolean {
    if (!this.#isPossible(event)) return false;
    if (event.type === "batch") this.#atHand = event;
    if (event.type === "replayed") this.#atHand = { batchSeq: event.batchSeq, bytes: 0 };
    if (event.type === "timer") this.timers.delete(event.timer);
    const { state, effects } = transition(this.state, event, this.#limits);
    this.state = state;
    this.#perform(effects);
    return true;
  }

  #isPossible(event: StreamEvent): boolean {
    switch (event.type) {
      case "connected":
      case "disconnected":
      case "handshake-broken-off":
      case "subscriber-lost":
      case "batch":
      case "message-malformed":
        return this.isSubscriberOpen;
      case "snapshot":
        return this.isAsking && this.#limits.recovery === "snapshot";
      case "replayed":
        return this.isAsking && this.#limits.recovery === "replay" && (!event.isKnown || event.batchSeq === this.indexed);
      case "answer-end":
      case "request-failed":
        return this.isAsking;
      case "timer":
        return this.timers.has(event.timer);
      case "batch-failed":
      case "replay-applied":
      case "replay-apply-failed":
      case "adopted":
      case "adopt-failed":
        return false; // these come of effects alone
    }
  }

  #perform(effects: readonly Effect[]): void {
    const outcomes = effects.map((effect) => this.#performOne(effect)).filter((outcome) => outcome !== null);
    for (const outcome of outcomes) {
      const { state, effects: more } = transition(this.state, outcome, this.#limits);
      this.state = state;
      this.#perform(more);
    }
  }

  #performOne(effect: Effect): StreamEvent | null {
    switch (effect.type) {
      case "open-subscriber":
        this.isSubscriberOpen = true;
        return null;
      case "close-subscriber":
        this.isSubscriberOpen = false;
        return null;
      case "ask-snapshot":
      case "ask-replay":
        this.isAsking = true;
        this.requests += 1;
        return null;
      case "forget":
        if (this.isSynchronized) throw new Error("A stream is forgotten while it is seen");
        this.indexed = NONE;
        return null;
      case "apply-replayed":
        if (this.isSynchronized) throw new Error("A replayed batch is applied while the stream is seen");
        return this.#applyReplayed();
      case "show-held":
        return this.#showHeld(effect.after);
      case "end-recovery":
        this.isAsking = false;
        this.#hasSnapshot = false;
        this.#release();
        return null;
      case "keep-snapshot":
        this.#hasSnapshot = true;
        return null;
      case "hold-batch":
        this.held.push(this.#atHand.batchSeq);
        this.heldBytes += this.#atHand.bytes;
        this.heldBytesMost = Math.max(this.heldBytesMost, this.heldBytes);
        return null;
      case "release-held":
        this.#release();
        return null;
      case "adopt-snapshot":
        if (!this.#hasSnapshot) throw new Error("A snapshot is adopted that was not kept");
        return this.#adopt(Math.max(effect.watermark, this.held.at(-1) ?? NONE));
      case "adopt-batch":
        return this.#adopt(this.#atHand.batchSeq);
      case "unsynchronize":
        this.isSynchronized = false;
        return null;
      case "start-timer":
        this.timers.add(effect.timer);
        return null;
      case "start-retry":
        this.timers.add("retry");
        return null;
      case "stop-timer":
        this.timers.delete(effect.timer);
        return null;
      case "apply-batch":
        return this.#applyBatch();
      case "count":
        return null;
    }
  }

  #release(): void {
    this.held = [];
    this.heldBytes = 0;
  }

  #applyBatch(): StreamEvent | null {
    this.indexed = this.nextAdoption === "adopted" ? this.#atHand.batchSeq : BROKEN;
    return this.nextAdoption === "adopted" ? null : { type: "batch-failed", problem: this.#problem };
  }

  #applyReplayed(): StreamEvent {
    const { batchSeq } = this.#atHand;
    if (this.indexed !== NONE && this.indexed !== batchSeq - 1)
      throw new Error(`Batch ${batchSeq} is applied to ${this.indexed}`);
    this.indexed = this.nextAdoption === "adopted" ? batchSeq : BROKEN;
    if (this.nextAdoption === "adopted") return { type: "replay-applied" };
    return { type: "replay-apply-failed", problem: this.#problem };
  }

  #showHeld(after: number): StreamEvent {
    const rest = this.held.filter((batchSeq) => batchSeq > after);
    if (this.indexed !== NONE && this.indexed !== after)
      throw new Error(`After ${after} is shown, the index is at ${this.indexed}`);
    if (after !== NONE && rest.length > 0 && rest[0] !== after + 1) throw new Error(`After ${after} comes ${rest[0]}`);
    return this.#adopt(rest.at(-1) ?? after);
  }

  #adopt(batchSeq: number): StreamEvent {
    if (this.nextAdoption === "unfit") {
      this.indexed = BROKEN;
      return { type: "adopt-failed", problem: TOO_LARGE };
    }
    if (this.nextAdoption === "unreadable" && this.#limits.recovery === "snapshot") {
      return { type: "request-failed", problem: TOO_LARGE };
    }
    this.adoptions += 1;
    this.isSynchronized = true;
    this.indexed = batchSeq;
    return { type: "adopted", batchSeq, isEmpty: false };
  }

  get #problem(): Unsynchronized {
    return this.nextAdoption === "unreadable" ? unsynchronized("batch-malformed", this.#atHand.batchSeq) : TOO_LARGE;
  }
}
