/**
 * One stream under observation: its peer, and every answer that Warmpath has given about it. An answer is right when it is
 * synchronized and equals the peer's state after the batch that it names, or unsynchronized with a reason and without hits.
 */

import { expect } from "bun:test";
import type { Block } from "./blocks.ts";
import type { CacheEvent } from "./cache-event.ts";
import type { PeerEngine } from "./peer-engine.ts";
import type { Match } from "./query.ts";

/** Longest wait for something to be seen; recoveries back off from one second. */
const SEEN_TIMEOUT_MS = 10_000;
const LOOK_AGAIN_MS = 5;

export class ObservedStream {
  readonly peer: PeerEngine;
  readonly #ask: () => Promise<void>;
  /** Reasons for being unsynchronized, in order, each once in a row; `#seen` of them were waited for. */
  readonly #reasons: string[] = [];
  #seen = 0;
  readonly #violations: string[] = [];
  readonly #batchSeqs = new Set<number>();
  #latest: Match | null = null;
  /** The peer's process of the latest synchronized answer. */
  #process = 0;
  #batchSeq = 0;

  /** `ask` observes the answers to all prompts of the site once. */
  constructor(peer: PeerEngine, ask: () => Promise<void>) {
    this.peer = peer;
    this.#ask = ask;
  }

  /** Judges one answer. */
  observe(match: Match, prompt: readonly Block[]): void {
    this.#latest = match;
    const problem = match.synchronized ? this.#judgeSynchronized(match, prompt) : this.#judgeUnsynchronized(match);
    if (problem !== null) this.#violations.push(`${problem}: ${JSON.stringify(match)}`);
  }

  /** Waits until the stream gives this reason, later than the one that was waited for before. */
  async sees(reason: string): Promise<void> {
    await this.#until(`the reason ${JSON.stringify(reason)}`, () => {
      const position = this.#reasons.indexOf(reason, this.#seen);
      if (position < 0) return false;
      this.#seen = position + 1;
      return true;
    });
  }

  /** Waits until the stream is synchronized at the peer's last batch, and expects the exact answer for every prompt. */
  async catchesUp(timeoutMs = SEEN_TIMEOUT_MS): Promise<void> {
    const { batchSeq } = this.peer;
    const { process } = this.peer.log;
    const hasCaughtUp = () => this.#latest?.synchronized === true && this.#process === process && this.#batchSeq === batchSeq;
    await this.#until(`batch ${batchSeq}`, hasCaughtUp, timeoutMs);
    await this.#ask();
    expect(hasCaughtUp()).toBe(true);
    this.expectNoViolation();
  }

  /**
   * Does `fault` while the peer answers no request, so that the reason stands until it was seen; then lets the stream recover by
   * itself.
   */
  async failsWith(reason: string, fault: () => Promise<void>): Promise<void> {
    await this.peer.snapshot("silent");
    await fault();
    await this.sees(reason);
    await this.peer.snapshot("whole");
    await this.catchesUp();
  }

  /** Has the peer publish batch after batch until one of them was seen: all through the recovery that is under way. */
  async publishesThroughRecovery(events: (step: number) => CacheEvent[]): Promise<void> {
    const { batchSeq } = this.peer;
    let step = 0;
    const publish = () => this.peer.publish(events(step++));
    await this.#until(`a batch after ${batchSeq}`, () => this.#batchSeq > batchSeq, SEEN_TIMEOUT_MS, publish);
  }

  /** Does `action`, all through which and until the stream has caught up it must not be seen unsynchronized. */
  async staysSynchronized(action: () => Promise<void>): Promise<void> {
    await this.catchesUp();
    const before = this.#reasons.length;
    await action();
    await this.catchesUp();
    expect(this.#reasons.slice(before)).toEqual([]);
  }

  /** The batch of the latest synchronized answer. */
  get batchSeq(): number {
    return this.#batchSeq;
  }

  /** How many batch sequences the stream was seen synchronized at. */
  get statesSeen(): number {
    return this.#batchSeqs.size;
  }

  expectNoViolation(): void {
    expect(this.#violations).toEqual([]);
  }

  #judgeUnsynchronized(match: Match): string | null {
    if (match.error !== this.#reasons.at(-1)) this.#reasons.push(match.error ?? "");
    if (match.error === null || match.error === "") return "unsynchronized without a reason";
    const hits = match.device_hit_tokens + match.host_only_hit_tokens + match.disk_only_hit_tokens + match.reusable_prefix_tokens;
    return hits === 0 ? null : "hits while unsynchronized";
  }

  /** States are never seen again once a later one was: neither of an earlier process nor of an earlier batch. */
  #judgeSynchronized(match: Match, prompt: readonly Block[]): string | null {
    const { instance_name, dp_rank, sequence } = match;
    const status = { instance_name, dp_rank, synchronized: true, coverage: "full", sequence, error: null };
    for (let process = this.#process; process <= this.peer.log.process; process++) {
      if (process === this.#process && sequence < this.#batchSeq) continue;
      const isRight = this.peer.log
        .at(process, sequence)
        .some((state) => Bun.deepEquals(match, { ...status, ...state.expected(prompt) }, true));
      if (!isRight) continue;
      this.#process = process;
      this.#batchSeq = sequence;
      this.#batchSeqs.add(sequence);
      return null;
    }
    const wanted = this.peer.log.at(this.#process, sequence).map((state) => state.expected(prompt));
    return `not the state after that batch, which gives ${JSON.stringify(wanted)}`;
  }

  async #until(what: string, isSeen: () => boolean, timeoutMs = SEEN_TIMEOUT_MS, meanwhile = lookAgain): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (!isSeen()) {
      if (this.#violations.length > 0) this.expectNoViolation();
      if (performance.now() > deadlineMs) {
        const latest = JSON.stringify(this.#latest);
        throw new Error(`Cannot see ${what} within ${timeoutMs} ms: ${latest}, reasons ${JSON.stringify(this.#reasons)}`);
      }
      await meanwhile();
    }
  }
}

function lookAgain(): Promise<void> {
  return Bun.sleep(LOOK_AGAIN_MS);
}
