/** One stream under observation: its peer, and every answer that Warmpath has given about it, each of which is judged. */

import { expect } from "bun:test";
import { AnswerJudge, isAnswer } from "./answer-judge.ts";
import type { Block } from "./blocks.ts";
import type { CacheEvent } from "./cache-event.ts";
import type { CacheState } from "./cache-state.ts";
import type { PeerEngine } from "./peer-engine.ts";
import type { Match } from "./query.ts";

/** Longest wait for something to be seen; recoveries back off from one second. */
const SEEN_TIMEOUT_MS = 10_000;
const LOOK_AGAIN_MS = 5;

interface CatchUp {
  /** The state that the stream can know of a peer whose earlier batches it cannot have; null when it knows everything. */
  known?: CacheState | null;
  timeoutMs?: number;
}

export class ObservedStream {
  readonly peer: PeerEngine;
  readonly #ask: () => Promise<void>;
  /** Reasons for being unsynchronized, in order, each once as long as it stands; `#seen` of them were waited for. */
  readonly #reasons: string[] = [];
  /** The latest one; null while synchronized. */
  #reason: string | null = null;
  #seen = 0;
  readonly #violations: string[] = [];
  readonly #judge: AnswerJudge;
  #latest: Match | null = null;
  /** The latest answer for each prompt. */
  readonly #answers = new Map<readonly Block[], Match>();

  /** `ask` observes the answers to all prompts of the site once. */
  constructor(peer: PeerEngine, ask: () => Promise<void>) {
    this.peer = peer;
    this.#ask = ask;
    this.#judge = new AnswerJudge(peer);
  }

  /** Judges one answer. */
  observe(match: Match, prompt: readonly Block[]): void {
    this.#latest = match;
    this.#answers.set(prompt, match);
    const reason = match.synchronized ? null : match.error;
    if (reason !== null && reason !== this.#reason) this.#reasons.push(reason);
    this.#reason = reason;
    const problem = this.#judge.judge(match, prompt);
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

  /** Waits until the stream is synchronized at the peer's last batch, with the exact answer for every prompt. */
  async catchesUp({ known = null, timeoutMs = SEEN_TIMEOUT_MS }: CatchUp = {}): Promise<void> {
    if (known !== null) return this.#knows(known, Math.max(this.peer.batchSeq, 0), timeoutMs);
    const { batchSeq } = this.peer;
    const { process } = this.peer.log;
    const hasCaughtUp = () => this.#isFull && this.#judge.process === process && this.#judge.batchSeq === batchSeq;
    await this.#until(`batch ${batchSeq}`, hasCaughtUp, timeoutMs);
    await this.#ask();
    expect(hasCaughtUp()).toBe(true);
    this.expectNoViolation();
  }

  /** Waits until the stream is synchronized and waits for the first batch that it will know of. */
  async knowsNothing(): Promise<void> {
    await this.#knows(this.peer.emptyCache, 0, SEEN_TIMEOUT_MS);
  }

  /**
   * Waits until the stream is synchronized at the peer's last batch, whatever its coverage. The peer repeats that batch until
   * then: a subscription takes a moment to reach it, and what is sent before is lost for one that nobody asks for a replay.
   */
  async hearsLast(timeoutMs = SEEN_TIMEOUT_MS): Promise<void> {
    const { batchSeq } = this.peer;
    const isHeard = () =>
      this.#latest?.synchronized === true && this.#latest.sequence === batchSeq && !this.#judge.knowsNothing(this.#latest);
    await this.#until(`batch ${batchSeq}`, isHeard, timeoutMs, () => this.peer.repeat(1).then(lookAgain));
  }

  /**
   * Does `fault` while the peer answers no request, so that the reason stands until it was seen; then lets the stream recover by
   * itself.
   */
  async failsWith(reason: string, fault: () => Promise<void>, catchUp: CatchUp = {}): Promise<void> {
    await this.peer.answerRequests("silent");
    await fault();
    await this.sees(reason);
    await this.peer.answerRequests("whole");
    await this.catchesUp(catchUp);
  }

  /** Has the peer publish batch after batch until one of them was seen: all through the recovery that is under way. */
  async publishesThroughRecovery(events: (step: number) => CacheEvent[] | Promise<CacheEvent[]>): Promise<void> {
    const { batchSeq } = this.peer;
    let step = 0;
    const publish = async () => this.peer.publish(await events(step++));
    await this.#until(`a batch after ${batchSeq}`, () => this.#judge.batchSeq > batchSeq, SEEN_TIMEOUT_MS, publish);
  }

  /** Does `action`, all through which and until the stream has caught up it must not be seen unsynchronized. */
  async staysSynchronized(action: () => Promise<void>, catchUp: CatchUp = {}): Promise<void> {
    await this.catchesUp();
    const before = this.#reasons.length;
    await action();
    await this.catchesUp(catchUp);
    expect(this.#reasons.slice(before)).toEqual([]);
  }

  /** The batch of the latest synchronized answer. */
  get batchSeq(): number {
    return this.#judge.batchSeq;
  }

  /** How many batch sequences the stream was seen synchronized at with full coverage. */
  get statesSeen(): number {
    return this.#judge.statesSeen;
  }

  expectNoViolation(): void {
    expect(this.#violations).toEqual([]);
  }

  get #isFull(): boolean {
    return this.#latest?.synchronized === true && this.#latest.coverage === "full";
  }

  /** Waits until every prompt's answer is that of this state after this batch, in part. */
  async #knows(known: CacheState, sequence: number, timeoutMs: number): Promise<void> {
    const isKnown = () =>
      this.#answers.size > 0 &&
      [...this.#answers].every(([prompt, match]) => isAnswer(match, "partial", sequence, known.expected(prompt)));
    await this.#until(`batch ${sequence} in part`, isKnown, timeoutMs, () => this.#ask());
    this.expectNoViolation();
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
