/** Batches that the peer's own commands cannot make, put together here and sent as they are. */

import { encode } from "@msgpack/msgpack";
import { BLOCK_SIZE, type Block } from "./blocks.ts";

/** A batch of rank 0 that holds these events in the words of the wire. */
export function payloadOf(events: readonly unknown[]): Uint8Array {
  return encode([Date.now() / 1000, events, 0], { useBigInt64: true });
}

/** A store of consecutive blocks on the device, in the words of the wire. */
export function storeOf(blocks: readonly Block[]): Record<string, unknown> {
  return {
    type: "BlockStored",
    block_hashes: blocks.map(({ hash }) => hash),
    parent_block_hash: blocks[0].parent,
    token_ids: blocks.flatMap(({ tokens }) => tokens),
    block_size: BLOCK_SIZE,
    medium: "gpu",
  };
}

/** The three frames of a live message. */
export function liveFrames(topic: string, batchSeq: number, payload: Uint8Array): Uint8Array[] {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(batchSeq));
  return [new TextEncoder().encode(topic), number, payload];
}
