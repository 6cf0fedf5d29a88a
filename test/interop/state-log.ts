/**
 * Every state that a peer has had, under its process and batch sequence. A state is written here before the peer publishes it,
 * so that nobody can rightly hold a state that is not here yet.
 */

import type { CacheState } from "./cache-state.ts";

export class StateLog {
  readonly #processes: Map<number, CacheState[]>[] = [];

  /** A process that has published nothing: its state is that after the batch before its first. */
  beginProcess(batchSeq: number, state: CacheState): void {
    this.#processes.push(new Map([[batchSeq, [state]]]));
  }

  /** The process at hand, counted from 0. */
  get process(): number {
    return this.#processes.length - 1;
  }

  /** The state after `batchSeq`. Several for one batch sequence are all right answers. */
  record(batchSeq: number, state: CacheState): void {
    const states = this.#processes[this.process];
    states.set(batchSeq, [...(states.get(batchSeq) ?? []), state]);
  }

  /** All right answers after `batchSeq` of that process; none when it never had such a state. */
  at(process: number, batchSeq: number): readonly CacheState[] {
    return this.#processes[process]?.get(batchSeq) ?? [];
  }
}
