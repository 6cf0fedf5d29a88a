/**
 * The outside of a batch: `[timestamp, events, rank?, …]`, the same behind a text tag, or a map with `ts`, `events` and
 * `data_parallel_rank`. The timestamp may be of any type.
 */

import { KIND } from "../msgpack/format.ts";
import { NameTable } from "../msgpack/name-table.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";
import type { BatchOutcome } from "./dialect.ts";

const KEYS = ["ts", "events", "data_parallel_rank"] as const;
const KEY_TABLE = new NameTable(KEYS);

/** What is to be done with the parts of a batch; each passes exactly one value. */
export interface BatchVisitor {
  readTimestamp(): void;
  readEvent(): void;
}

/** Reads the batch that `reader` stands on into `outcome`. */
export function readBatch(reader: MessagePackReader, visitor: BatchVisitor, outcome: BatchOutcome): void {
  outcome.rank = null;
  const hasEvents =
    reader.peek() === KIND.MAP ? readMapBatch(reader, visitor, outcome) : readArrayBatch(reader, visitor, outcome);
  outcome.problem = hasEvents && !reader.isBroken ? null : "malformed";
  outcome.trailingBytes = reader.remainingBytes;
}

function readArrayBatch(reader: MessagePackReader, visitor: BatchVisitor, outcome: BatchOutcome): boolean {
  let fieldsLeft = reader.readArrayHeader();
  if (reader.readText()) fieldsLeft -= 1;
  if (fieldsLeft < 2) return false;
  visitor.readTimestamp();
  if (!readEvents(reader, visitor)) return false;
  if (fieldsLeft === 2) return true;
  if (!readRank(reader, outcome)) return false;
  reader.skipMany(fieldsLeft - 3);
  return true;
}

function readMapBatch(reader: MessagePackReader, visitor: BatchVisitor, outcome: BatchOutcome): boolean {
  let hasEvents = false;
  for (let pairsLeft = reader.readMapHeader(); pairsLeft > 0; pairsLeft--) {
    switch (KEYS[KEY_TABLE.read(reader)]) {
      case "ts":
        visitor.readTimestamp();
        break;
      case "events":
        if (hasEvents || !readEvents(reader, visitor)) return false;
        hasEvents = true;
        break;
      case "data_parallel_rank":
        if (!readRank(reader, outcome)) return false;
        break;
      case undefined:
        reader.skip();
        break;
    }
  }
  return hasEvents;
}

function readEvents(reader: MessagePackReader, visitor: BatchVisitor): boolean {
  const count = reader.readArrayHeader();
  for (let index = 0; index < count && !reader.isBroken; index++) visitor.readEvent();
  return count >= 0;
}

function readRank(reader: MessagePackReader, outcome: BatchOutcome): boolean {
  if (reader.readNil()) return true;
  const rank = reader.readUint32();
  outcome.rank = rank < 0 ? null : rank;
  return rank >= 0;
}
