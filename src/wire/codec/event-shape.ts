/**
 * The shapes in which engines have published batches: whether events are arrays or maps, which fields they have in which order.
 * Decoders need none of this; it is for writing what a given version would.
 */

import type { EventField } from "../dialects/event-fields.ts";
import { POSITIONS } from "../dialects/event-reader.ts";

/**
 * | shape | written by |
 * | --- | --- |
 * | vllm-1 | vLLM 0.9.0 |
 * | vllm-2 | 0.9.1: data-parallel rank |
 * | vllm-3 | 0.10.2: medium |
 * | vllm-4 | about 0.14: LoRA name |
 * | vllm-5, vllm-6 | early and spring 2026: extra keys, group index |
 * | vllm-7 | up to 0.23: attention kind, sliding window |
 * | vllm-8 | 0.24: typed maps |
 * | vllm-8b | 0.26: locality |
 * | vllm-9 | about 0.28: ownership, session |
 * | sglang-1 | SGLang in mid 2025: no rank, a root's parent is the hash of the empty tuple |
 * | sglang-2 | later in 2025: rank |
 * | sglang-3 | February 2026: medium |
 * | sglang-3b | 0.5.18: cache salt as metadata |
 * | sglang-4 | September 2026: typed maps |
 */
export const EVENT_SHAPES = [
  "vllm-1",
  "vllm-2",
  "vllm-3",
  "vllm-4",
  "vllm-5",
  "vllm-6",
  "vllm-7",
  "vllm-8",
  "vllm-8b",
  "vllm-9",
  "sglang-1",
  "sglang-2",
  "sglang-3",
  "sglang-3b",
  "sglang-4",
] as const;

export type EventShape = (typeof EVENT_SHAPES)[number];

export interface ShapeLayout {
  form: "array" | "map";
  namesRank: boolean;
  hashes: "unsigned" | "signed";
  rootParent: "nil" | "empty-tuple-hash";
  /** Where a cache salt goes when it is no field: into a map behind the last field, or nowhere. */
  salt: "metadata" | "nowhere";
  /** Fields that a map has even when they say nothing, as an array has all of them. */
  keptFields: readonly EventField[];
  stored: readonly EventField[];
  removed: readonly EventField[];
}

/** The first fields of the array forms, behind the tag. */
const stored = (count: number) => POSITIONS.BlockStored.slice(0, count);
const removed = (count: number) => POSITIONS.BlockRemoved.slice(0, count);

const VLLM_ARRAY = {
  form: "array",
  namesRank: true,
  hashes: "unsigned",
  rootParent: "nil",
  salt: "nowhere",
  keptFields: [],
} as const;
const VLLM_MAP = { ...VLLM_ARRAY, form: "map", keptFields: stored(7) } as const;
const SGLANG_ARRAY = { ...VLLM_ARRAY, hashes: "signed" } as const;

export const SHAPE_LAYOUTS: Readonly<Record<EventShape, ShapeLayout>> = {
  "vllm-1": { ...VLLM_ARRAY, namesRank: false, stored: stored(5), removed: removed(1) },
  "vllm-2": { ...VLLM_ARRAY, stored: stored(5), removed: removed(1) },
  "vllm-3": { ...VLLM_ARRAY, stored: stored(6), removed: removed(2) },
  "vllm-4": { ...VLLM_ARRAY, stored: stored(7), removed: removed(2) },
  "vllm-5": { ...VLLM_ARRAY, stored: stored(8), removed: removed(2) },
  "vllm-6": { ...VLLM_ARRAY, stored: stored(9), removed: removed(3) },
  "vllm-7": { ...VLLM_ARRAY, stored: stored(11), removed: removed(3) },
  "vllm-8": { ...VLLM_MAP, stored: stored(11), removed: removed(3) },
  "vllm-8b": { ...VLLM_MAP, stored: [...stored(11), "locality"], removed: [...removed(3), "locality"] },
  "vllm-9": {
    ...VLLM_MAP,
    stored: [...stored(11), "locality", "ownership", "session_id"],
    removed: [...removed(3), "locality", "ownership"],
  },
  "sglang-1": {
    ...SGLANG_ARRAY,
    namesRank: false,
    rootParent: "empty-tuple-hash",
    stored: stored(5),
    removed: removed(1),
  },
  "sglang-2": { ...SGLANG_ARRAY, stored: stored(5), removed: removed(1) },
  "sglang-3": { ...SGLANG_ARRAY, stored: stored(6), removed: removed(2) },
  "sglang-3b": { ...SGLANG_ARRAY, salt: "metadata", stored: stored(6), removed: removed(2) },
  "sglang-4": {
    ...SGLANG_ARRAY,
    form: "map",
    keptFields: stored(5),
    stored: [...stored(6), "cache_salt", "session_id"],
    removed: removed(2),
  },
};
