/**
 * xLLM's KV events: batches of typed maps with vLLM's field names, the array forms as well. What an unknown or trailing thing does
 * is said in dialect.ts; which media, groups and namespaces count in event-fields.ts.
 */

import type { KvEventSink } from "#domain";
import { MessagePackReader } from "../msgpack/reader.ts";
import { readBatch } from "./batch-shape.ts";
import type { BatchOutcome, Dialect } from "./dialect.ts";
import { EventFields } from "./event-fields.ts";
import { type FieldReader, readEvent } from "./event-reader.ts";

const PASS_FIELDS: FieldReader = { read: (_field, reader) => reader.skip() };

export class XllmDialect implements Dialect {
  readonly #reader = new MessagePackReader();
  readonly #fields = new EventFields();
  readonly #outcome: BatchOutcome = { problem: null, rank: null, trailingBytes: 0 };

  decode(payload: Uint8Array, sink: KvEventSink): BatchOutcome {
    this.#reader.reset(payload);
    readBatch(this.#reader, () => this.#deliverEvent(sink), this.#outcome);
    return this.#outcome;
  }

  holdsFullState(payload: Uint8Array): boolean {
    let isCleared = false;
    let isFull = false;
    this.#reader.reset(payload);
    const passEvent = () => {
      const tag = readEvent(this.#reader, PASS_FIELDS);
      if (tag === "AllBlocksCleared") isCleared = true;
      if (tag === "BlockStored" && isCleared) isFull = true;
    };
    readBatch(this.#reader, passEvent, this.#outcome);
    return isFull && this.#outcome.problem === null;
  }

  #deliverEvent(sink: KvEventSink): void {
    this.#fields.clear();
    const tag = readEvent(this.#reader, this.#fields);
    if (this.#reader.isBroken) return;
    switch (tag) {
      case "BlockStored": {
        const stored = this.#fields.toStored();
        if (typeof stored === "string") sink.eventSkipped(stored);
        else sink.blockStored(stored);
        break;
      }
      case "BlockRemoved": {
        const removed = this.#fields.toRemoved();
        if (typeof removed === "string") sink.eventSkipped(removed);
        else sink.blockRemoved(removed);
        break;
      }
      case "AllBlocksCleared":
        sink.allBlocksCleared();
        break;
      case "unknown":
        sink.eventSkipped("unknown-event");
        break;
      case "malformed":
        sink.eventSkipped("malformed-event");
        break;
    }
  }
}
