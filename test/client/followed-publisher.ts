/** A publisher and the two ways from it, as plain data, for `follow` to be run against: losses are chosen, nothing waits. */

import { type FollowInput, type FollowRules, type FollowState, follow, JOINING } from "../../src/client/lib/follow.ts";

export interface Told {
  delivered: string[];
  gaps: [number, number][];
  restarts: number;
}

/** Bytes of a batch: which process sent it, under which number. */
const bytesOf = (incarnation: number, batchSeq: number) => `${incarnation}:${batchSeq}`;

export class FollowedPublisher {
  readonly told: Told = { delivered: [], gaps: [], restarts: 0 };
  /** Batches that the publisher can replay, oldest first. */
  buffer: number[] = [];
  /** Whether a replied batch is lost on its way. */
  isReplyLost: (batchSeq: number) => boolean = () => false;
  /** Whether requests get no reply at all. */
  isMute = false;
  asks = 0;
  #incarnation = 0;
  #next = 0;
  #state: FollowState = JOINING;
  #held: string | null = null;
  #seen = new Set<string>();
  #live: number[] = [];
  readonly #rules: FollowRules;

  constructor(rules: FollowRules) {
    this.#rules = rules;
  }

  get state(): FollowState {
    return this.#state;
  }

  connect(): void {
    this.#input({ type: "connected" });
    this.#settle();
  }

  /** Publishes the next batch; `lost` ones are not heard, `forgotten` ones cannot be replayed either. */
  publish(fate: "heard" | "lost" | "forgotten" = "heard"): void {
    const batchSeq = this.#next++;
    if (fate !== "forgotten") this.buffer.push(batchSeq);
    if (fate === "heard") this.#live.push(batchSeq);
    this.#settle();
  }

  /** Sends an old live batch again. */
  repeat(batchSeq: number): void {
    this.#live.push(batchSeq);
    this.#settle();
  }

  restart(): void {
    this.#incarnation += 1;
    this.#next = 0;
    this.buffer = [];
    this.#live = [];
  }

  /** Takes live batches as long as they are wanted. */
  #settle(): void {
    while (this.#state.kind === "following") {
      const batchSeq = this.#live.shift();
      if (batchSeq === undefined) return;
      this.#batch("live", batchSeq);
    }
    if (this.#state.kind === "pausing") {
      this.#input({ type: "retry-due" });
      this.#settle();
    }
  }

  #batch(type: "live" | "replayed", batchSeq: number): void {
    const bytes = bytesOf(this.#incarnation, batchSeq);
    this.#input({ type, batchSeq, isKnown: this.#seen.has(bytes) }, bytes);
  }

  #input(input: FollowInput, bytes = ""): void {
    const { state, effects } = follow(this.#state, input, this.#rules);
    this.#state = state;
    let start: number | null = null;
    for (const effect of effects) {
      switch (effect.type) {
        case "deliver":
          this.#deliver(bytes);
          break;
        case "hold":
          this.#held = bytes;
          break;
        case "deliver-held":
          this.#deliver(this.#held ?? "nothing held");
          this.#held = null;
          break;
        case "drop-held":
          this.#held = null;
          break;
        case "tell-gap":
          this.told.gaps.push([effect.from, effect.to]);
          break;
        case "tell-restart":
          this.told.restarts += 1;
          this.#seen.clear();
          break;
        case "ask":
          start = effect.start;
          break;
        case "drop-repeat":
        case "pause":
          break;
      }
    }
    if (start !== null) this.#answer(start);
  }

  #deliver(bytes: string): void {
    this.told.delivered.push(bytes);
    this.#seen.add(bytes);
  }

  /** A reply that was replaced by the next request is not read on. */
  #answer(start: number): void {
    this.asks += 1;
    if (this.asks > 10_000) throw new Error("Asking does not end");
    const request = this.asks;
    if (this.isMute) {
      this.#input({ type: "failed" });
      return;
    }
    for (const batchSeq of this.buffer) {
      if (batchSeq < start || this.isReplyLost(batchSeq)) continue;
      this.#batch("replayed", batchSeq);
      if (this.asks !== request) return;
    }
    this.#input({ type: "ended" });
  }
}
