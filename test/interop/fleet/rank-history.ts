/**
 * All processes that one rank of one instance has had, and the judge of what Warmpath says about the rank. Credit is right when it
 * is what a process holds that lived at some moment between the question and its answer. A process that was killed counts as
 * alive for a short grace, but not for a moment longer than until its successor listens.
 */

import { AnswerJudge } from "../answer-judge.ts";
import type { Block } from "../blocks.ts";
import type { Counts } from "../cache-state.ts";
import type { PeerEngine } from "../peer-engine.ts";
import type { Match } from "../query.ts";

/** From the exit of a process, within which a busy machine hears that its connections are gone. */
const GRACE_MS = 500;

/** From the registration of another process, within which Warmpath hears of it from the etcd that it follows. */
const KNOWN_MS = 500;

interface Life {
  peer: PeerEngine;
  judge: AnswerJudge;
  listeningSinceMs: number;
  /** Null while it lives. */
  exitedAtMs: number | null;
  /** Answers that gave it credit. */
  credits: number;
}

/** When a question was asked, when its answer was there, and since when etcd had been followed without a break. */
export interface Asked {
  fromMs: number;
  toMs: number;
  etcdFollowedSinceMs: number;
}

export class RankHistory {
  readonly #lives: Life[] = [];
  /** The latest life that was given credit; none before it is right again. */
  #credited = 0;
  #isStarting = false;
  /** The life that the latest registration of another process is about, and when that was there. */
  #renewal = { life: 0, atMs: 0 };
  #longestAfterlifeMs = 0;

  /** A new process may listen from now on; it holds nothing before it is said to listen. */
  starts(): void {
    this.#isStarting = true;
  }

  listens(peer: PeerEngine): void {
    this.#isStarting = false;
    this.#lives.push({
      peer,
      judge: new AnswerJudge(peer),
      listeningSinceMs: performance.now(),
      exitedAtMs: null,
      credits: 0,
    });
  }

  exits(): void {
    const life = this.#lives.at(-1);
    if (life !== undefined) life.exitedAtMs = performance.now();
  }

  /** The process at hand is registered as another one than before; where none lives, the next. */
  renewed(): void {
    const isAlive = this.#lives.at(-1)?.exitedAtMs === null;
    this.#renewal = { life: this.#lives.length - (isAlive ? 1 : 0), atMs: performance.now() };
  }

  get processes(): number {
    return this.#lives.length;
  }

  /** Processes that were given credit for anything. */
  get creditedProcesses(): number {
    return this.#lives.filter(({ credits }) => credits > 0).length;
  }

  /** Longest time from a process's exit to an answer that still gave it credit. */
  get longestAfterlifeMs(): number {
    return this.#longestAfterlifeMs;
  }

  /** What is wrong with an answer; null for a right one. */
  judge(match: Match, prompt: readonly Block[], asked: Asked): string | null {
    if (!match.synchronized) return this.#judgeUnsynchronized(match, prompt, asked);
    const isNothing = hitsOf(match) + blocksOf(match) === 0;
    if (isNothing && this.#isStarting) return null;
    const problems: string[] = [];
    for (let n = this.#lives.length - 1; n >= this.#credited; n--) {
      if (!this.#isAlive(n, asked)) continue;
      const problem = this.#lives[n].judge.judge(match, prompt);
      if (problem === null) return isNothing ? null : this.#credit(n, asked);
      problems.push(`of process ${n}: ${problem}`);
    }
    return problems.length > 0 ? problems.join(", ") : "no process lives";
  }

  /** Nothing may be had; what is listed still is what a process held that is neither replaced nor older than the latest with credit. */
  #judgeUnsynchronized(match: Match, prompt: readonly Block[], asked: Asked): string | null {
    if (match.error === null || match.error === "") return "unsynchronized without a reason";
    if (hitsOf(match) > 0) return "hits while unsynchronized";
    if (blocksOf(match) === 0) return null;
    const oldest = Math.max(this.#credited, this.#isRenewalKnown(asked) ? this.#renewal.life : 0);
    const states = this.#lives.slice(oldest).flatMap(({ peer }) => peer.log.at(0, match.sequence));
    const isHeld = states.some((state) => isWithin(match, state.expected(prompt)));
    return isHeld ? null : `residency that no process from ${oldest} on had after that batch`;
  }

  #isRenewalKnown({ fromMs, etcdFollowedSinceMs }: Asked): boolean {
    return fromMs >= Math.max(this.#renewal.atMs, etcdFollowedSinceMs) + KNOWN_MS;
  }

  #credit(number: number, { fromMs }: Asked): null {
    const life = this.#lives[number];
    this.#credited = number;
    life.credits += 1;
    if (life.exitedAtMs !== null) this.#longestAfterlifeMs = Math.max(this.#longestAfterlifeMs, fromMs - life.exitedAtMs);
    return null;
  }

  #isAlive(number: number, { fromMs, toMs }: Asked): boolean {
    const { listeningSinceMs, exitedAtMs } = this.#lives[number];
    const graceEndMs = exitedAtMs === null ? Number.POSITIVE_INFINITY : exitedAtMs + GRACE_MS;
    const successorMs = this.#lives[number + 1]?.listeningSinceMs ?? Number.POSITIVE_INFINITY;
    return listeningSinceMs <= toMs && fromMs <= Math.min(graceEndMs, successorMs);
  }
}

function hitsOf({ device_hit_tokens, host_only_hit_tokens, disk_only_hit_tokens, reusable_prefix_tokens }: Match): number {
  return device_hit_tokens + host_only_hit_tokens + disk_only_hit_tokens + reusable_prefix_tokens;
}

function blocksOf({ device_blocks, host_blocks, disk_blocks }: Counts): number {
  return device_blocks + host_blocks + disk_blocks;
}

/** Where a stream missed the beginning it knows of fewer blocks than there are. */
function isWithin(match: Match, state: Counts): boolean {
  const tiers = ["device_blocks", "host_blocks", "disk_blocks"] as const;
  return tiers.every((tier) => (match.coverage === "full" ? match[tier] === state[tier] : match[tier] <= state[tier]));
}
