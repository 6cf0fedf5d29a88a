/** The decoder that all dialects are: a batch walked event by event, each told to a sink under the rules of one engine. */

import type { KvEventSink } from "#domain";
import { MessagePackReader } from "../msgpack/reader.ts";
import { readNumber } from "../msgpack/values.ts";
import { AttentionGroups } from "./attention-groups.ts";
import { readBatch } from "./batch-shape.ts";
import type { BatchContents, BatchOutcome, Dialect, DialectRules } from "./dialect.ts";
import { EventFields } from "./event-fields.ts";
import { type FieldReader, readEvent } from "./event-reader.ts";

const PASS_FIELDS: FieldReader = { read: (_field, reader) => reader.skip() };

export class EventDecoder implements Dialect {
  readonly #reader = new MessagePackReader();
  readonly #fields: EventFields;
  readonly #outcome: BatchOutcome = { problem: null, rank: null, trailingBytes: 0 };
  readonly #contents: BatchContents = { timestampSeconds: null, stored: 0, removed: 0, cleared: 0 };
  readonly #readTimestamp = () => {
    this.#contents.timestampSeconds = readNumber(this.#reader);
  };
  readonly #passTimestamp = () => this.#reader.skip();

  constructor(rules: DialectRules) {
    this.#fields = new EventFields(rules);
  }

  get contents(): Readonly<BatchContents> {
    return this.#contents;
  }

  decode(payload: Uint8Array, sink: KvEventSink, groups = new AttentionGroups()): BatchOutcome {
    this.#reader.reset(payload);
    this.#contents.timestampSeconds = null;
    this.#contents.stored = this.#contents.removed = this.#contents.cleared = 0;
    const readEvent = () => this.#deliverEvent(sink, groups);
    readBatch(this.#reader, { readTimestamp: this.#readTimestamp, readEvent }, this.#outcome);
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
    readBatch(this.#reader, { readTimestamp: this.#passTimestamp, readEvent: passEvent }, this.#outcome);
    return isFull && this.#outcome.problem === null;
  }

  #deliverEvent(sink: KvEventSink, groups: AttentionGroups): void {
    this.#fields.clear();
    const tag = readEvent(this.#reader, this.#fields);
    if (this.#reader.isBroken) return;
    switch (tag) {
      case "BlockStored": {
        const stored = this.#fields.toStored(groups);
        if (typeof stored === "string") {
          sink.eventSkipped(stored);
          break;
        }
        this.#contents.stored += 1;
        sink.blockStored(stored);
        break;
      }
      case "BlockRemoved": {
        const removed = this.#fields.toRemoved(groups);
        if (typeof removed === "string") {
          sink.eventSkipped(removed);
          break;
        }
        this.#contents.removed += 1;
        sink.blockRemoved(removed);
        break;
      }
      case "AllBlocksCleared":
        this.#contents.cleared += 1;
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
