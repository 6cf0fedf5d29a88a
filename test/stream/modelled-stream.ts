/**
 * The transition with the world around it in miniature: which timers run, whether a subscriber and a request are open, what is
 * held. Only what can happen there is fed, so whatever a property finds can happen to a stream.
 */

import { unsynchronized } from "#domain";
import type { Effect, StreamEvent, StreamState, Timer } from "../../src/stream/state.ts";
import { begin, transition } from "../../src/stream/transition.ts";
import { LIMITS } from "./states.ts";

/** What the next adoption comes to. */
export type AdoptionOutcome = "adopted" | "unfit" | "unreadable";

export class ModelledStream {
  state: StreamState;
  readonly timers = new Set<Timer>();
  isSubscriberOpen = false;
  isAsking = false;
  isSynchronized = false;
  heldBytes = 0;
  heldBytesMost = 0;
  adoptions = 0;
  nextAdoption: AdoptionOutcome = "adopted";
  #hasSnapshot = false;
  #bytesAtHand = 0;

  constructor() {
    const { state, effects } = begin();
    this.state = state;
    this.#perform(effects);
  }

  /** Feeds the event if it can happen now; true when it could. */
  feed(event: StreamEvent): boolean {
    if (!this.#isPossible(event)) return false;
    if (event.type === "batch") this.#bytesAtHand = event.bytes;
    if (event.type === "timer") this.timers.delete(event.timer);
    const { state, effects } = transition(this.state, event, LIMITS);
    this.state = state;
    this.#perform(effects);
    return true;
  }

  #isPossible(event: StreamEvent): boolean {
    switch (event.type) {
      case "connected":
      case "disconnected":
      case "subscriber-lost":
      case "batch":
      case "message-malformed":
        return this.isSubscriberOpen;
      case "snapshot":
      case "snapshot-end":
      case "snapshot-failed":
        return this.isAsking;
      case "timer":
        return this.timers.has(event.timer);
      case "batch-failed":
        return this.state.kind === "live";
      case "adopted":
      case "adopt-failed":
        return false; // these come of effects alone
    }
  }

  #perform(effects: readonly Effect[]): void {
    const outcomes = effects.map((effect) => this.#performOne(effect)).filter((outcome) => outcome !== null);
    for (const outcome of outcomes) {
      const { state, effects: more } = transition(this.state, outcome, LIMITS);
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
        this.isAsking = true;
        return null;
      case "end-recovery":
        this.isAsking = false;
        this.#hasSnapshot = false;
        this.heldBytes = 0;
        return null;
      case "keep-snapshot":
        this.#hasSnapshot = true;
        return null;
      case "hold-batch":
        this.heldBytes += this.#bytesAtHand;
        this.heldBytesMost = Math.max(this.heldBytesMost, this.heldBytes);
        return null;
      case "release-held":
        this.heldBytes = 0;
        return null;
      case "adopt-snapshot":
        if (!this.#hasSnapshot) throw new Error("A snapshot is adopted that was not kept");
        return this.#adopt(effect.watermark);
      case "adopt-batch":
        return this.#adopt(50);
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
      case "count":
        return null;
    }
  }

  #adopt(watermark: number): StreamEvent {
    const problem = unsynchronized("block-limit");
    if (this.nextAdoption === "unfit") return { type: "adopt-failed", problem };
    if (this.nextAdoption === "unreadable") return { type: "snapshot-failed", problem };
    this.adoptions += 1;
    this.isSynchronized = true;
    return { type: "adopted", batchSeq: watermark, isEmpty: false };
  }
}
