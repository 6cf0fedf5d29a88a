/**
 * Fleets, and what CAR answers for the prompt of ten blocks of 16 tokens, worked out by hand:
 *
 *   prefill   score = λ·(1 − ratio) + (1 − λ)·queue        decode   score = usage + queue
 *
 * λ is 0.5, a token on the host alone counts 0.5 and one on disk alone 0.25, unless the flags say otherwise.
 */

import type { Member } from "./route-site.ts";

/** kv_hit_ratio, queue_cost and score; or why it may not serve. */
export type Expected = readonly [ratio: number, queue: number, score: number] | string;

export interface FleetCase {
  /** A sentence, about the decision. */
  what: string;
  flags?: readonly string[];
  members: Readonly<Record<string, Member>>;
  /** Tokens of the prompt, 160 unless it is said; and further fields of the body. */
  tokens?: number;
  fields?: object;
  prefill: string;
  decode?: string;
  candidates: Readonly<Record<string, Expected>>;
  /** Why nothing that an instance holds counts, by name. */
  uncredited?: Readonly<Record<string, string>>;
}

/** Hits against queues: ratios 1, 0, 0.3; the busiest has 4 waiting, so queues are 1, 0.25, 0.5. */
export const HITS_AGAINST_QUEUES = {
  "a:1": { ranks: [{ device: 10 }], load: { waiting: 4 } },
  "b:1": { ranks: [{}], load: { waiting: 1 } },
  "c:1": { ranks: [{ device: 3 }], load: { waiting: 2 } },
};

/** Six blocks in front of four on the host alone, against six on the device. Nothing waits: score = (1 − ratio) / 2. */
const HOST_AGAINST_DEVICE = {
  "a:1": { ranks: [{ device: 4, host: 6 }] },
  "b:1": { ranks: [{ device: 6 }] },
};

/** Ratio (3 + 2·host + 5·disk) / 10 against 0.5. */
const DISK_AGAINST_DEVICE = {
  "a:1": { ranks: [{ device: 3, host: 2, disk: 5 }] },
  "b:1": { ranks: [{ device: 5 }] },
};

/** Prefill on p or q, decode on d or e; usage + queue is 0.9 + 0 and 0.2 + 1. */
const BOTH_SIDES = {
  "d:1": { role: "DECODE", load: { waiting: 0, usage: 0.9 } },
  "e:1": { role: "DECODE", load: { waiting: 3, usage: 0.2 } },
  "p:1": { role: "PREFILL", ranks: [{ device: 5 }], load: { waiting: 2 } },
  "q:1": { role: "PREFILL", ranks: [{ device: 2 }], load: { waiting: 1 } },
} as const;

export const FLEETS: readonly FleetCase[] = [
  {
    what: "with λ 0 only queues count",
    flags: ["--car-prefill-lambda=0"],
    members: HITS_AGAINST_QUEUES,
    prefill: "b:1",
    candidates: { "a:1": [1, 1, 1], "b:1": [0, 0.25, 0.25], "c:1": [0.3, 0.5, 0.5] },
  },
  {
    // a 0.25·0 + 0.75·1; b 0.25·1 + 0.75·0.25; c 0.25·0.7 + 0.75·0.5
    what: "with λ 0.25 a short queue outweighs the whole prompt",
    flags: ["--car-prefill-lambda=0.25"],
    members: HITS_AGAINST_QUEUES,
    prefill: "b:1",
    candidates: { "a:1": [1, 1, 0.75], "b:1": [0, 0.25, 0.4375], "c:1": [0.3, 0.5, 0.55] },
  },
  {
    // a 0.5·0 + 0.5·1; b 0.5·1 + 0.5·0.25; c 0.5·0.7 + 0.5·0.5
    what: "with λ 0.5 the whole prompt outweighs the longest queue",
    members: HITS_AGAINST_QUEUES,
    prefill: "a:1",
    candidates: { "a:1": [1, 1, 0.5], "b:1": [0, 0.25, 0.625], "c:1": [0.3, 0.5, 0.6] },
  },
  {
    what: "with λ 1 only hits count",
    flags: ["--car-prefill-lambda=1"],
    members: HITS_AGAINST_QUEUES,
    prefill: "a:1",
    candidates: { "a:1": [1, 1, 0], "b:1": [0, 0.25, 1], "c:1": [0.3, 0.5, 0.7] },
  },
  {
    what: "with host weight 0 what the host holds counts nothing",
    flags: ["--car-host-hit-weight=0", "--car-disk-hit-weight=0"],
    members: HOST_AGAINST_DEVICE,
    prefill: "b:1",
    candidates: { "a:1": [0.4, 0, 0.3], "b:1": [0.6, 0, 0.2] },
  },
  {
    // (4 + 0.5·6) / 10
    what: "with host weight 0.5 what the host holds counts half",
    members: HOST_AGAINST_DEVICE,
    prefill: "a:1",
    candidates: { "a:1": [0.7, 0, 0.15], "b:1": [0.6, 0, 0.2] },
  },
  {
    what: "with host weight 1 what the host holds counts whole",
    flags: ["--car-host-hit-weight=1"],
    members: HOST_AGAINST_DEVICE,
    prefill: "a:1",
    candidates: { "a:1": [1, 0, 0], "b:1": [0.6, 0, 0.2] },
  },
  {
    // (3 + 0.5·2) / 10
    what: "with disk weight 0 what the disk holds counts nothing",
    flags: ["--car-disk-hit-weight=0"],
    members: DISK_AGAINST_DEVICE,
    prefill: "b:1",
    candidates: { "a:1": [0.4, 0, 0.3], "b:1": [0.5, 0, 0.25] },
  },
  {
    // (3 + 0.5·2 + 0.25·5) / 10
    what: "with disk weight 0.25 what the disk holds counts a quarter",
    members: DISK_AGAINST_DEVICE,
    prefill: "a:1",
    candidates: { "a:1": [0.525, 0, 0.2375], "b:1": [0.5, 0, 0.25] },
  },
  {
    // (3 + 1·2 + 1·5) / 10
    what: "with disk weight 1 what the disk holds counts whole",
    flags: ["--car-host-hit-weight=1", "--car-disk-hit-weight=1"],
    members: DISK_AGAINST_DEVICE,
    prefill: "a:1",
    candidates: { "a:1": [1, 0, 0], "b:1": [0.5, 0, 0.25] },
  },
  {
    what: "with empty queues the hits decide",
    members: { "a:1": { ranks: [{ device: 1 }] }, "b:1": { ranks: [{ device: 2 }] }, "c:1": {} },
    prefill: "b:1",
    candidates: { "a:1": [0.1, 0, 0.45], "b:1": [0.2, 0, 0.4], "c:1": [0, 0, 0.5] },
  },
  {
    // Its queue is the longest there is: 3 / 3.
    what: "a candidate without a rival serves",
    members: { "a:1": { ranks: [{ device: 5 }], load: { waiting: 3 } } },
    prefill: "a:1",
    candidates: { "a:1": [0.5, 1, 0.75] },
  },
  {
    // a has 9, 4 + 0.5·4 = 6 and 5 on its ranks.
    what: "of several ranks the one that holds least counts",
    members: { "a:1": { ranks: [{ device: 9 }, { device: 4, host: 4 }, { device: 5 }] }, "b:1": { ranks: [{ device: 6 }] } },
    prefill: "b:1",
    candidates: { "a:1": [0.5, 0, 0.25], "b:1": [0.6, 0, 0.2] },
  },
  {
    what: "one rank that is not in step takes all credit away",
    members: { "a:1": { ranks: [{ device: 10 }, "silent"] }, "b:1": { ranks: [{ device: 1 }] } },
    prefill: "b:1",
    candidates: { "a:1": [0, 0, 0.5], "b:1": [0.1, 0, 0.45] },
    uncredited: { "a:1": "rank 1: its stream is not synchronized" },
  },
  {
    what: "an instance that nobody can listen to has no credit and may serve",
    members: { "a:1": { ranks: [], load: { waiting: 0 } }, "b:1": { ranks: [{ device: 4 }], load: { waiting: 2 } } },
    prefill: "a:1",
    candidates: { "a:1": [0, 0, 0.5], "b:1": [0.4, 1, 0.8] },
    uncredited: { "a:1": "rank 0: no stream" },
  },
  {
    // Without a decode instance p may not serve, whatever it holds.
    what: "without a decode instance a DEFAULT serves alone",
    members: { "a:1": { ranks: [{ device: 2 }], load: { waiting: 1 } }, "p:1": { role: "PREFILL", ranks: [{ device: 10 }] } },
    prefill: "a:1",
    candidates: { "a:1": [0.2, 1, 0.9], "p:1": "only a DEFAULT instance serves without a decode instance" },
  },
  {
    // p 0.5·0.5 + 0.5·1; q 0.5·0.8 + 0.5·0.5
    what: "prefill and decode are compared each by itself",
    members: BOTH_SIDES,
    prefill: "q:1",
    decode: "d:1",
    candidates: { "d:1": [0, 0, 0.9], "e:1": [0, 1, 1.2], "p:1": [0.5, 1, 0.75], "q:1": [0.2, 0.5, 0.65] },
  },
  {
    // m joins first and becomes DECODE; n, like every MIX after it, PREFILL: 0.5·0.3. Alone on its side m's queue is 2 / 2.
    what: "a MIX instance counts by its current role",
    members: {
      "m:1": { role: "MIX", ranks: [{ device: 10 }], load: { waiting: 2, usage: 0.5 } },
      "n:1": { role: "MIX", ranks: [{ device: 7 }] },
    },
    prefill: "n:1",
    decode: "m:1",
    candidates: { "m:1": [0, 1, 1.5], "n:1": [0.7, 0, 0.15] },
  },
  {
    // The queues that count are 1 and 2: the 9 that wait at c and at d are not among the candidates'.
    what: "who is SUSPECT or without a load that counts is left out, with the reason",
    members: {
      "a:1": { ranks: [{ device: 10 }], load: null },
      "b:1": { ranks: [{ device: 3 }], load: { waiting: 1 } },
      "c:1": { ranks: [{ device: 10 }], load: { waiting: 9, usage: 1.5 } },
      "d:1": { ranks: [], load: { waiting: 9 }, isSuspect: true },
      "e:1": { load: { waiting: 2 } },
    },
    prefill: "b:1",
    candidates: {
      "a:1": "load unknown: no load report yet",
      "b:1": [0.3, 0.5, 0.6],
      "c:1": "load unknown: gpu_cache_usage_perc is 1.5, a number from 0 to 1 is needed",
      "d:1": "the instance is SUSPECT",
      "e:1": [0, 1, 1],
    },
  },
  {
    // 160 of 168 tokens are in full blocks: 1 − 20/21 = 1/21.
    what: "tokens of the last block that is not full are no hits",
    members: { "a:1": { ranks: [{ device: 10 }] }, "b:1": { ranks: [{ device: 4 }] } },
    tokens: 168,
    prefill: "a:1",
    candidates: { "a:1": [160 / 168, 0, 1 / 42], "b:1": [64 / 168, 0, 13 / 42] },
  },
  {
    what: "a prompt shorter than a block is held by nobody",
    members: { "a:1": { ranks: [{ device: 10 }], load: { waiting: 2 } }, "b:1": { load: { waiting: 1 } } },
    tokens: 15,
    prefill: "b:1",
    candidates: { "a:1": [0, 1, 1], "b:1": [0, 0.5, 0.75] },
  },
  {
    what: "an empty prompt is held by nobody",
    members: { "a:1": { ranks: [{ device: 10 }], load: { waiting: 2 } }, "b:1": { load: { waiting: 1 } } },
    tokens: 0,
    prefill: "b:1",
    candidates: { "a:1": [0, 1, 1], "b:1": [0, 0.5, 0.75] },
  },
  {
    what: "a salted prompt is held only where the same salt was used",
    members: { "a:1": { ranks: [{ device: 10 }] }, "b:1": { ranks: [{ device: 4, salt: "tenant" }] } },
    fields: { cache_salt: "tenant" },
    prefill: "b:1",
    candidates: { "a:1": [0, 0, 0.5], "b:1": [0.4, 0, 0.3] },
  },
  {
    what: "a plain prompt is not held where it was salted",
    members: { "a:1": { ranks: [{ device: 1 }] }, "b:1": { ranks: [{ device: 4, salt: "tenant" }] } },
    prefill: "a:1",
    candidates: { "a:1": [0.1, 0, 0.45], "b:1": [0, 0, 0.5] },
  },
  {
    // Of 168 tokens b holds three blocks of 48, a ten of 16.
    what: "each instance counts in blocks of its own size",
    members: { "a:1": { ranks: [{ device: 10 }] }, "b:1": { ranks: [{ device: 3 }], blockSize: 48 } },
    tokens: 168,
    prefill: "a:1",
    candidates: { "a:1": [160 / 168, 0, 1 / 42], "b:1": [144 / 168, 0, 1 / 14] },
  },
];
