/**
 * Judges what Warmpath answers about one peer. An answer is right when it is synchronized and equals the peer's state after the
 * batch that it names; or is synchronized, of partial coverage, and claims no more than that state has; or is unsynchronized with
 * a reason and without hits. A state is never right again once a later one was seen.
 */

import type { Block } from "./blocks.ts";
import type { CacheState, Counts } from "./cache-state.ts";
import type { PeerEngine } from "./peer-engine.ts";
import type { Match } from "./query.ts";

export class AnswerJudge {
  readonly #peer: PeerEngine;
  readonly #fullBatchSeqs = new Set<number>();
  #process = 0;
  #batchSeq = 0;

  constructor(peer: PeerEngine) {
    this.#peer = peer;
  }

  /** The peer's process of the latest synchronized answer: the earliest that it can be of. */
  get process(): number {
    return this.#process;
  }

  /** The batch of the latest synchronized answer. */
  get batchSeq(): number {
    return this.#batchSeq;
  }

  /** How many batch sequences were seen with full coverage. */
  get statesSeen(): number {
    return this.#fullBatchSeqs.size;
  }

  /** What is wrong with an answer; null for a right one. */
  judge(match: Match, prompt: readonly Block[]): string | null {
    return match.synchronized ? this.#judgeSynchronized(match, prompt) : judgeUnsynchronized(match);
  }

  /** Before its first batch a stream without a snapshot is at 0 and holds nothing, wherever the peer is. */
  knowsNothing({ sequence, coverage, device_blocks, host_blocks, disk_blocks, reusable_prefix_tokens }: Match): boolean {
    const claims = device_blocks + host_blocks + disk_blocks + reusable_prefix_tokens;
    return this.#peer.engine !== "xllm" && coverage === "partial" && sequence === 0 && claims === 0;
  }

  #judgeSynchronized(match: Match, prompt: readonly Block[]): string | null {
    if (this.knowsNothing(match)) return null;
    const { coverage, sequence } = match;
    const { log } = this.#peer;
    for (let process = this.#process; process <= log.process; process++) {
      if (process === this.#process && sequence < this.#batchSeq) continue;
      if (!log.at(process, sequence).some((state) => this.#isRight(match, prompt, state))) continue;
      this.#process = process;
      this.#batchSeq = sequence;
      if (coverage === "full") this.#fullBatchSeqs.add(sequence);
      return null;
    }
    const wanted = log.at(this.#process, sequence).map((state) => state.expected(prompt));
    return `not the state after that batch, which gives ${JSON.stringify(wanted)}`;
  }

  #isRight(match: Match, prompt: readonly Block[], state: CacheState): boolean {
    if (match.coverage === "partial" && this.#peer.engine !== "xllm") return match.error === null && state.bounds(match, prompt);
    return isAnswer(match, "full", match.sequence, state.expected(prompt));
  }
}

/** Whether this is the whole answer of a synchronized stream. */
export function isAnswer(match: Match, coverage: "full" | "partial", sequence: number, counts: Counts): boolean {
  const { instance_name, dp_rank } = match;
  const wanted = { instance_name, dp_rank, synchronized: true, coverage, sequence, ...counts, error: null };
  return Bun.deepEquals(match, wanted, true);
}

function judgeUnsynchronized(match: Match): string | null {
  if (match.error === null || match.error === "") return "unsynchronized without a reason";
  const hits = match.device_hit_tokens + match.host_only_hit_tokens + match.disk_only_hit_tokens + match.reusable_prefix_tokens;
  return hits === 0 ? null : "hits while unsynchronized";
}
