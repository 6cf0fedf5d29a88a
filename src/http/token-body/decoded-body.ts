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

/** Whether an object may have `requests`; an entry of them may not. */
export type Expected = "prompt" | "prompt-or-batch";

/** A form whose bodies are objects. Both throw a problem at the first mistake. */
export interface ObjectForm {
  /** The one object that `body` is. */
  readBody(body: Uint8Array, tokens: Uint32Array, expected: Expected): ReadObject;
  /** The prompt that begins at `start`; `body` ends with it. */
  readEntry(body: Uint8Array, start: number, tokens: Uint32Array): ReadObject;
}

/** Takes the value that comes next in a body. */
interface ValueReader {
  readTokens(): number;
  readEntries(): Span[];
  readValue(): unknown;
}

/** Several prompts in one body. They are written to the same memory, so that each is decoded when its turn comes. */
export interface DecodedBatch {
  readonly entryCount: number;
  /** As `decodeTokenBody` does; byte offsets in problems are those of the whole body, pointers begin within the entry. */
  decodeEntry(position: number, tokens: Uint32Array): DecodedBody;
}

/**
 * Decodes `body` and writes its tokens into `tokens`. Throws a problem at the first mistake: 400 when the body is not one object or
 * names a field twice, 413 when it has more than `tokens.length` tokens, 422 when token_ids is missing or not a list of tokens.
 */
export function decodeObject(form: ObjectForm, body: Uint8Array, tokens: Uint32Array): DecodedBody {
  return promptOf(form.readBody(body, tokens, "prompt"));
}

/** The same, or a batch where the object has `requests`: the whole body is checked by then, its entries are still to be read. */
export function decodeObjects(form: ObjectForm, body: Uint8Array, tokens: Uint32Array): DecodedBody | DecodedBatch {
  const object = form.readBody(body, tokens, "prompt-or-batch");
  const { entries } = object;
  if (entries === null) return promptOf(object);
  const names = [...(object.tokenCount === null ? [] : ["token_ids"]), ...object.fields.keys()];
  if (names.length > 0) throw fieldsBesideRequests(names);
  return {
    entryCount: entries.length,
    decodeEntry(position, entryTokens) {
      const { start, end } = entries[position];
      return promptOf(form.readEntry(body.subarray(0, end), start, entryTokens));
    },
  };
}

/** Reads the member `name` to where it belongs in `object`. */
export function readMember(object: ReadObject, name: string, expected: Expected, reader: ValueReader): void {
  if (name === "token_ids") object.tokenCount = reader.readTokens();
  else if (name === "requests" && expected === "prompt-or-batch") object.entries = reader.readEntries();
  else object.fields.set(name, reader.readValue());
}

/** Adds an entry's place; a 422 problem when there are too many. */
export function addEntry(entries: Span[], entry: Span): void {
  if (entries.length === BATCH_REQUESTS_MAX) throw tooManyRequests(BATCH_REQUESTS_MAX, entry.start);
  entries.push(entry);
}

/** Throws a 422 problem without token_ids. */
function promptOf({ tokenCount, fields }: ReadObject): DecodedBody {
  if (tokenCount === null) throw missingTokens();
  return { tokenCount, fields: Object.fromEntries(fields) };
}
