/** A publisher's changes as the events that announce them. */

import type { EngineEvent } from "#sim";
import type { BlockTree } from "./block-tree.ts";
import type { Change } from "./followed-cache.ts";

/** Engine hashes are few, so that the processes of one publisher give the same ones to different blocks. */
const HASHES = 32;

export class ChangeEvents {
  readonly #tree: BlockTree;
  readonly #blockSize: number;
  readonly #salt: number;

  /** `salt` distinguishes one process's engine hashes from another's. */
  constructor(tree: BlockTree, blockSize: number, salt: number) {
    this.#tree = tree;
    this.#blockSize = blockSize;
    this.#salt = salt;
  }

  of(change: Change): EngineEvent {
    switch (change.kind) {
      case "stored":
        return change.hasTokens ? this.#withTokens(change) : this.#placeholder(change);
      case "removed":
        return { kind: "removed", tier: change.tier, hashes: [this.#hash(change.block)] };
      case "cleared":
        return change;
    }
  }

  #withTokens({ tier, run }: Change & { kind: "stored" }): EngineEvent {
    const parent = this.#tree.parents[run[0]];
    const parentHash = parent < 0 ? null : this.#hash(parent);
    const hashes = run.map((node) => this.#hash(node));
    return { kind: "stored", tier, hashes, parentHash, tokens: this.#tree.tokens(run), blockSize: this.#blockSize };
  }

  #placeholder({ tier, run }: Change & { kind: "stored" }): EngineEvent {
    const hashes = run.map((node) => this.#hash(node));
    return { kind: "stored", tier, hashes, parentHash: null, tokens: new Uint32Array(0), blockSize: 0 };
  }

  #hash(block: number): bigint {
    return BigInt.asUintN(64, BigInt((block * 5 + this.#salt) % HASHES) * 0x9e3779b97f4a7c15n);
  }
}
