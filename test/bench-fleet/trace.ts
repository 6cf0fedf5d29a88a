/**
 * Mooncake's published request traces as requests: when each came, how long it was, and which blocks its prompt is made of. A
 * block is known by all that stands before it too, so that equal numbers mean equal prefixes.
 */

import { join } from "node:path";
import { assert } from "#base";

/** Tokens of a block, in the traces as in the simulated engines and in the index: fewer would only multiply the blocks. */
export const BLOCK_TOKENS = 512;

export const TRACE_NAMES = ["conversation", "synthetic"] as const;

export type TraceName = (typeof TRACE_NAMES)[number];

export interface TracedRequest {
  /** Its place in the trace. */
  readonly id: number;
  readonly arrivalMs: number;
  /** At least 1. */
  readonly inputTokens: number;
  /** At least 1. */
  readonly outputTokens: number;
  /** Of the prompt's full blocks, root first. */
  readonly blocks: readonly number[];
  /** What the trace calls all of its blocks, a partial last one included. */
  readonly hashIds: readonly number[];
}

/** A block of any prompt, by its number. */
export interface TracedBlock {
  readonly hashId: number;
  /** Null for the first block of a prompt. */
  readonly parent: number | null;
}

export interface Trace {
  readonly name: TraceName;
  /** In the order of their arrival. */
  readonly requests: readonly TracedRequest[];
  readonly blocks: readonly TracedBlock[];
}

interface TraceLine {
  timestamp: number;
  input_length: number;
  output_length: number;
  hash_ids: number[];
}

/** The trace's first `requestsMax` requests. */
export async function readTrace(name: TraceName, requestsMax = Number.POSITIVE_INFINITY): Promise<Trace> {
  const file = Bun.file(join(import.meta.dir, "..", "fixtures", "traces", `${name}.jsonl.gz`));
  const text = new TextDecoder().decode(Bun.gunzipSync(await file.bytes()));
  const lines = text.trimEnd().split("\n").slice(0, requestsMax);
  return parseTrace(
    name,
    lines.map((line) => JSON.parse(line) as TraceLine),
  );
}

export function parseTrace(name: TraceName, lines: readonly TraceLine[]): Trace {
  const numbering = new BlockNumbering();
  const requests = lines.map(({ timestamp, input_length, output_length, hash_ids }, id) => {
    assert(hash_ids.length === Math.ceil(input_length / BLOCK_TOKENS), `request ${id} of ${name} has an id for each block`);
    return {
      id,
      arrivalMs: timestamp,
      inputTokens: input_length,
      outputTokens: Math.max(1, output_length),
      blocks: numbering.number(hash_ids.slice(0, Math.floor(input_length / BLOCK_TOKENS))),
      hashIds: hash_ids,
    };
  });
  return { name, requests, blocks: numbering.blocks };
}

/** From the first arrival to the last. */
export function traceDurationMs({ requests }: Trace): number {
  return requests[requests.length - 1].arrivalMs - requests[0].arrivalMs;
}

/** The trace with its requests of one time spread evenly up to the next time; those of the last stay. */
export function spreadArrivals(trace: Trace): Trace {
  const groups = [...Map.groupBy(trace.requests, ({ arrivalMs }) => arrivalMs)];
  const requests = groups.flatMap(([startMs, group], place) => {
    const [endMs] = groups[place + 1] ?? [startMs];
    return group.map((request, turn) => ({ ...request, arrivalMs: startMs + ((endMs - startMs) * turn) / group.length }));
  });
  return { ...trace, requests };
}

/** Numbers blocks from 0, each (parent, hash id) once. */
class BlockNumbering {
  readonly blocks: TracedBlock[] = [];
  readonly #children = new Map<number | null, Map<number, number>>();

  number(hashIds: readonly number[]): number[] {
    let parent: number | null = null;
    return hashIds.map((hashId) => {
      parent = this.#child(parent, hashId);
      return parent;
    });
  }

  #child(parent: number | null, hashId: number): number {
    let children = this.#children.get(parent);
    if (children === undefined) {
      children = new Map();
      this.#children.set(parent, children);
    }
    const known = children.get(hashId);
    if (known !== undefined) return known;
    const block = this.blocks.length;
    this.blocks.push({ hashId, parent });
    children.set(hashId, block);
    return block;
  }
}
