/**
 * The outside of a batch: `[timestamp, events, rank?, …]`, the same behind a text tag, or a map with `ts`, `events` and
 * `data_parallel_rank`. The timestamp is of any type and is not used.
 */

import { KIND } from "../msgpack/format.ts";
import { NameTable } from "../msgpack/name-table.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";
import type { BatchOutcome } from "./dialect.ts";

const KEYS = ["events", "data_parallel_rank"] as const;
const KEY_TABLE = new NameTable(KEYS);

/** Reads the batch that `reader` stands on into `outcome`; `readEvent` passes exactly one value each time. */
export function readBatch(reader: MessagePackReader, readEvent: () => void, outcome: BatchOutcome): void {
  outcome.rank = null;
  const hasEvents =
    reader.peek() === KIND.MAP ? readMapBatch(reader, readEvent, outcome) : readArrayBatch(reader, readEvent, outcome);
  outcome.problem = hasEvents && !reader.isBroken ? null : "malformed";
  outcome.trailingBytes = reader.remainingBytes;
}

function readArrayBatch(reader: MessagePackReader, readEvent: () => void, outcome: BatchOutcome): boolean {
  let fieldsLeft = reader.readArrayHeader();
  if (reader.readText()) fieldsLeft -= 1;
  if (fieldsLeft < 2) return false;
  reader.skip();
  if (!readEvents(reader, readEvent)) return false;
  if (fieldsLeft === 2) return true;
  if (!readRank(reader, outcome)) return false;
  reader.skipMany(fieldsLeft - 3);
  return true;
}

function readMapBatch(reader: MessagePackReader, readEvent: () => void, outcome: BatchOutcome): boolean {
  let hasEvents = false;
  for (let pairsLeft = reader.readMapHeader(); pairsLeft > 0; pairsLeft--) {
    switch (readKey(reader)) {
      case "events":
        if (hasEvents || !readEvents(reader, readEvent)) return false;
        hasEvents = true;
        break;
      case "data_parallel_rank":
        if (!readRank(reader, outcome)) return false;
        break;
      case null:
        reader.skip();
        break;
    }
  }
  return hasEvents;
}

/** Passes a key of any type; null when it is not one of ours. */
function readKey(reader: MessagePackReader): (typeof KEYS)[number] | null {
  if (reader.readText()) return KEYS[KEY_TABLE.find(reader.bytes, reader.rawStart, reader.rawEnd)] ?? null;
  reader.skip();
  return null;
}

function readEvents(reader: MessagePackReader, readEvent: () => void): boolean {
  const count = reader.readArrayHeader();
  for (let index = 0; index < count && !reader.isBroken; index++) readEvent();
  return count >= 0;
}

function readRank(reader: MessagePackReader, outcome: BatchOutcome): boolean {
  if (reader.readNil()) return true;
  const rank = reader.readUint32();
  outcome.rank = rank < 0 ? null : rank;
  return rank >= 0;
}
