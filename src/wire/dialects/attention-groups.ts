/**
 * What a stream's stores have said of its KV cache groups: which attend to everything. A store names its group's kind, a removal
 * in most versions only the group's number; to skip a removal of a full-attention group would leave a block claimed that is gone.
 */

/** Far more groups than a hybrid model has; a number beyond is never learned, and goes by the rule for unnamed kinds. */
const GROUPS_MAX = 256;

export class AttentionGroups {
  /** By group number: 0 unknown, 1 full attention, 2 sparse. */
  readonly #kinds = new Uint8Array(GROUPS_MAX);

  learn(group: number, isFullAttention: boolean): void {
    if (group < GROUPS_MAX) this.#kinds[group] = isFullAttention ? 1 : 2;
  }

  /** Where no store has said so, the first group is taken for full attention, and no other. */
  isFullAttention(group: number): boolean {
    const kind = group < GROUPS_MAX ? this.#kinds[group] : 0;
    return kind === 0 ? group === 0 : kind === 1;
  }
}
