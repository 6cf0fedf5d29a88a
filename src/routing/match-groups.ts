/** The directory's answer by instance. The groups are kept from one decision to the next, so that sorting allocates nothing. */

import type { StreamMatch } from "#domain";

/** Names kept at most: twice as many as there can be streams; beyond it all are let go and come back as they are needed. */
const GROUPS_MAX = 256;

const NONE: readonly StreamMatch[] = [];

export class MatchGroups {
  readonly #groups = new Map<string, StreamMatch[]>();

  /** Names that are kept, with matches or without. */
  get size(): number {
    return this.#groups.size;
  }

  /** Sorts an answer; the one before is gone. */
  regroup(matches: readonly StreamMatch[]): void {
    if (this.#groups.size > GROUPS_MAX) this.#groups.clear();
    for (const group of this.#groups.values()) group.length = 0;
    for (const match of matches) {
      const group = this.#groups.get(match.stream.instanceName);
      if (group === undefined) this.#groups.set(match.stream.instanceName, [match]);
      else group.push(match);
    }
  }

  /** The matches of an instance's streams, valid until the next `regroup`. */
  of(instanceName: string): readonly StreamMatch[] {
    return this.#groups.get(instanceName) ?? NONE;
  }
}
