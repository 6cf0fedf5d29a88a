/**
 * What a reader must know after a series of events, in plain Maps: tier → hash → block. Refuses events that no reader could
 * apply: a store under an unknown parent, a placeholder for an unknown block, a removal of what is not there.
 */

import type { CacheTier, EngineEvent } from "#sim";

export interface ModelBlock {
  parentHash: bigint | null;
  tokens: number[];
}

export class EventModel {
  readonly device = new Map<bigint, ModelBlock>();
  readonly host = new Map<bigint, ModelBlock>();

  apply(event: EngineEvent): void {
    switch (event.kind) {
      case "stored":
        if (event.tokens.length === 0) this.#addPlaceholders(event.tier, event.hashes);
        else this.#addBlocks(event);
        return;
      case "removed":
        for (const hash of event.hashes) {
          if (!this[event.tier].delete(hash)) throw new Error(`removed block ${hash} is not on ${event.tier}`);
        }
        return;
      case "cleared":
        this.device.clear();
        this.host.clear();
    }
  }

  find(hash: bigint): ModelBlock | undefined {
    return this.device.get(hash) ?? this.host.get(hash);
  }

  /** Hashes of blocks whose parent is on neither tier. */
  orphans(): bigint[] {
    return [...this.device, ...this.host].filter(([, block]) => !this.#isHeld(block.parentHash)).map(([hash]) => hash);
  }

  #addBlocks(event: Extract<EngineEvent, { kind: "stored" }>): void {
    if (event.tokens.length !== event.hashes.length * event.blockSize) throw new Error("tokens do not fill the blocks");
    if (!this.#isHeld(event.parentHash)) throw new Error(`parent ${event.parentHash} is unknown`);
    let parentHash = event.parentHash;
    event.hashes.forEach((hash, index) => {
      const tokens = [...event.tokens.subarray(index * event.blockSize, (index + 1) * event.blockSize)];
      this[event.tier].set(hash, { parentHash, tokens });
      parentHash = hash;
    });
  }

  #addPlaceholders(tier: CacheTier, hashes: bigint[]): void {
    for (const hash of hashes) {
      const known = this.find(hash);
      if (known === undefined) throw new Error(`block ${hash} is unknown and comes without tokens`);
      this[tier].set(hash, known);
    }
  }

  #isHeld(hash: bigint | null): boolean {
    return hash === null || this.find(hash) !== undefined;
  }
}
