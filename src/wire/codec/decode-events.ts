/** Reads batches of KV events into plain objects, in any shape that engines have published. */

import type { Engine, SkipReason } from "#domain";
import { readBatch } from "../dialects/batch-shape.ts";
import type { BatchOutcome } from "../dialects/dialect.ts";
import type { DigestFolding } from "../dialects/engine-hash.ts";
import { readEvent } from "../dialects/event-reader.ts";
import { EMPTY_TUPLE_HASH } from "../dialects/sglang.ts";
import { MessagePackReader } from "../msgpack/reader.ts";
import { readNumber } from "../msgpack/values.ts";
import { MalformedBatchError } from "./errors.ts";
import type { EventBatch, KvCacheEvent } from "./event-batch.ts";
import { EventValues } from "./event-values.ts";

export interface DecodeOptions {
  /** Whose batch it is; "vllm" by default. Only a parent hash by which older SGLang means none depends on it. */
  engine?: Engine;
  /**
   * Which bytes of a hash that comes as a digest are kept: the last 8 by default, as in the integers that engines send instead;
   * the first 8 for what AIBrix's package made of them.
   */
  byteHashFolding?: DigestFolding;
}

export interface DecodedBatch extends EventBatch {
  /** Why events were left out, one reason each: their tag is not known, or they are malformed. */
  skipped: readonly SkipReason[];
  /** Bytes behind the end of the batch, which are ignored. */
  trailingBytes: number;
}

/**
 * The batch in `payload`. Unlike a Dialect it gives events of every KV cache group, medium and namespace. Throws
 * MalformedBatchError when the bytes are no batch.
 */
export function decodeEventBatch(payload: Uint8Array, options: DecodeOptions = {}): DecodedBatch {
  const { engine = "vllm", byteHashFolding = "last8" } = options;
  const reader = new MessagePackReader();
  const values = new EventValues(byteHashFolding, engine === "sglang" ? EMPTY_TUPLE_HASH : null);
  const outcome: BatchOutcome = { problem: null, rank: null, trailingBytes: 0 };
  const events: KvCacheEvent[] = [];
  const skipped: SkipReason[] = [];
  let timestampSeconds: number | null = null;
  const visitor = {
    readTimestamp: () => {
      timestampSeconds = readNumber(reader);
    },
    readEvent: () => {
      values.clear();
      const event = values.toEvent(readEvent(reader, values));
      if (typeof event === "string") skipped.push(event);
      else events.push(event);
    },
  };
  reader.reset(payload);
  readBatch(reader, visitor, outcome);
  if (outcome.problem !== null) throw new MalformedBatchError(payload.length);
  return { timestampSeconds, events, dataParallelRank: outcome.rank, skipped, trailingBytes: outcome.trailingBytes };
}
