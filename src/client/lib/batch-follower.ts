/**
 * Follows one publisher: remembers what `follow` needs besides numbers (the held batch, what was delivered) and performs its
 * effects.
 */

import { assert } from "#base";
import type { BatchSource, ClientReport } from "./client-protocol.ts";
import { type FollowEffect, type FollowInput, type FollowRules, type FollowState, follow, JOINING } from "./follow.ts";
import { RecentBatches } from "./recent-batches.ts";

/** A batch as it came; the payload may be a view that the next message overwrites. */
export interface FollowedBatch {
  source: BatchSource;
  batchSeq: number;
  payload: Uint8Array;
}

/** What following needs done. */
export interface FollowActions {
  report(report: ClientReport): void;
  /** Sends a recovery request in place of the one there may be. */
  ask(start: number): void;
  /** Lets the request that has failed `failures` times in a row rest for a while; then `retryDue`. */
  pause(failures: number): void;
}

export class BatchFollower {
  readonly #rules: FollowRules;
  readonly #actions: FollowActions;
  readonly #recent = new RecentBatches();
  #state: FollowState = JOINING;
  #held: FollowedBatch | null = null;

  constructor(rules: FollowRules, actions: FollowActions) {
    this.#rules = rules;
    this.#actions = actions;
  }

  /** Live batches are taken only while `following`, replies only while `asking`. */
  get kind(): FollowState["kind"] {
    return this.#state.kind;
  }

  connected(): void {
    this.#input({ type: "connected" });
  }

  /** A batch of the kind that is taken now. */
  take(batch: FollowedBatch): void {
    const { source, batchSeq, payload } = batch;
    switch (source) {
      case "live":
        this.#input({ type: "live", batchSeq, isKnown: this.#recent.has(batchSeq, payload) }, batch);
        break;
      case "replay":
        this.#input({ type: "replayed", batchSeq, isKnown: this.#recent.has(batchSeq, payload) }, batch);
        break;
      case "snapshot":
        this.#input({ type: "snapshot", watermark: batchSeq }, batch);
        break;
    }
  }

  /** The request at hand was answered to its end. */
  ended(): void {
    this.#input({ type: "ended" });
  }

  /** The request at hand will not be answered. */
  failed(): void {
    this.#input({ type: "failed" });
  }

  /** The pause is over. */
  retryDue(): void {
    this.#input({ type: "retry-due" });
  }

  #input(input: FollowInput, batch: FollowedBatch | null = null): void {
    const { state, effects } = follow(this.#state, input, this.#rules);
    this.#state = state;
    for (const effect of effects) this.#perform(effect, batch);
  }

  #perform(effect: FollowEffect, batch: FollowedBatch | null): void {
    switch (effect.type) {
      case "deliver":
        this.#deliver(batch);
        break;
      case "drop-repeat":
        this.#actions.report({ type: "dropped", reason: "repeat" });
        break;
      case "hold":
        assert(batch !== null, "a batch is held when one came");
        this.#held = { ...batch, payload: batch.payload.slice() };
        break;
      case "deliver-held":
        this.#deliver(this.#held);
        this.#held = null;
        break;
      case "drop-held":
        this.#held = null;
        this.#actions.report({ type: "dropped", reason: "repeat" });
        break;
      case "ask":
        this.#actions.ask(effect.start);
        break;
      case "pause":
        this.#actions.pause(effect.failures);
        break;
      case "tell-gap":
        this.#actions.report({ type: "gap", from: effect.from, to: effect.to });
        break;
      case "tell-restart": {
        const { lastBatchSeq, foundBatchSeq } = effect;
        this.#recent.clear();
        this.#actions.report({ type: "restart", lastBatchSeq, foundBatchSeq });
        break;
      }
    }
  }

  #deliver(batch: FollowedBatch | null): void {
    assert(batch !== null, "a batch is delivered when one came or is held");
    const { source, batchSeq, payload } = batch;
    if (source === "snapshot") this.#recent.cover(batchSeq);
    else this.#recent.add(batchSeq, payload);
    this.#actions.report({ type: "batch", source, batchSeq, payload: payload.slice() });
  }
}
