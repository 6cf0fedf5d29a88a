/** What every body form comes to: one prompt, or several under `requests`. */

import { BATCH_REQUESTS_MAX } from "../limits.ts";
import { fieldsBesideRequests, missingTokens, tooManyRequests } from "./token-problems.ts";

export interface DecodedBody {
  /** Tokens written from the start of token memory on. */
  tokenCount: number;
  /** Every field but token_ids, as sent: the caller checks them against its schema. */
  fields: Record<string, unknown>;
}

/** Where a value stands in a body: its first byte, and the one behind its last. */
export interface Span {
  start: number;
  end: number;
}

/** The members of one object, in whichever form. */
export interface ReadObject {
  /** Null without token_ids. */
  tokenCount: number | null;
  /** Where each entry of `requests` stands; null without such a list, or where it is a field like any other. */
  entries: Span[] | null;
  fields: Map<string, unknown>;
}

/** Several prompts in one body. They are written to the same memory, so that each is decoded when its turn comes. */
export interface DecodedBatch {
  readonly entryCount: number;
  /** As `decodeTokenBody` does; byte offsets in problems are those of the whole body, pointers begin within the entry. */
  decodeEntry(position: number, tokens: Uint32Array): DecodedBody;
}

/** Throws a 422 problem without token_ids. */
export function promptOf({ tokenCount, fields }: ReadObject): DecodedBody {
  if (tokenCount === null) throw missingTokens();
  return { tokenCount, fields: Object.fromEntries(fields) };
}

/** The prompt or the batch that an object is; `decodeAt` decodes the object between two bytes. A batch has no other fields: 422. */
export function promptsOf(
  object: ReadObject,
  decodeAt: (span: Span, tokens: Uint32Array) => DecodedBody,
): DecodedBody | DecodedBatch {
  const { entries } = object;
  if (entries === null) return promptOf(object);
  const names = [...(object.tokenCount === null ? [] : ["token_ids"]), ...object.fields.keys()];
  if (names.length > 0) throw fieldsBesideRequests(names);
  return {
    entryCount: entries.length,
    decodeEntry: (position, tokens) => decodeAt(entries[position], tokens),
  };
}

/** Adds an entry's place; a 422 problem when there are too many. */
export function addEntry(entries: Span[], entry: Span): void {
  if (entries.length === BATCH_REQUESTS_MAX) throw tooManyRequests(BATCH_REQUESTS_MAX, entry.start);
  entries.push(entry);
}
