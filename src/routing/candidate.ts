/** What a policy chooses from: each instance of the fleet on its side, with the numbers it is judged by or why it may not serve. */

import type { LoadReport } from "#domain";
import type { Instance } from "#fleet";

/** Prefill: the prompt is computed there (P). Decode: the answer is generated there (D). */
export type Side = "prefill" | "decode";

/** An instance's load at the moment of a decision: what routing needs of the fleet's own, whatever origin it has. */
export type CurrentLoad =
  | { kind: "known"; report: LoadReport; ageMs: number }
  /** No report, an invalid one or one that is too old; `reason` is a sentence. */
  | { kind: "unknown"; reason: string };

type KnownLoad = Extract<CurrentLoad, { kind: "known" }>;

/** Why an instance may not serve. */
export type Exclusion =
  | { reason: "suspect" }
  | { reason: "load-unknown"; detail: string }
  /** It only prefills, and no instance may decode. */
  | { reason: "needs-decode" };

export type ExclusionReason = Exclusion["reason"];

/** Why an instance gets no credit for what it may hold. It may serve all the same. */
export interface Uncredited {
  reason: "no-stream" | "other-incarnation" | "unsynchronized";
  dpRank: number;
}

/** Tokens of the prompt's prefix that an instance holds, by the fastest tier: of the rank that holds least. */
export interface PrefixHits {
  readonly deviceTokens: number;
  readonly hostOnlyTokens: number;
  readonly diskOnlyTokens: number;
  /** Beyond the measured ones: of prompts that were sent there a moment ago and are not announced yet. */
  readonly predictedTokens: number;
  readonly uncredited: Uncredited | null;
}

export interface Candidate {
  readonly instance: Instance;
  readonly side: Side;
  /** Null: it may serve. */
  readonly excluded: Exclusion | null;
  /** Null when the policy needs none, or when it is unknown. */
  readonly load: KnownLoad | null;
  /** Requests sent there that its load report cannot know of. */
  readonly inFlightRequests: number;
  /** Null when the policy does not look at them. */
  readonly hits: PrefixHits | null;
  /** 0 to 1. */
  readonly kvHitRatio: number;
  /** 0 to 1: waiting requests relative to the busiest candidate of its side. */
  readonly queueCost: number;
  /** The least is chosen. CAR: 0 to 1 for prefill, 0 to 2 for decode; SLO_AWARE: milliseconds; null: not compared by number. */
  readonly score: number | null;
}

/** A candidate while a policy fills it in. */
export type CandidateDraft = { -readonly [Field in keyof Candidate]: Candidate[Field] };

/** `load unknown: no report yet`, for the person who asks why it was not chosen. */
export function describeExclusion(exclusion: Exclusion): string {
  switch (exclusion.reason) {
    case "suspect":
      return "the instance is SUSPECT";
    case "load-unknown":
      return `load unknown: ${exclusion.detail}`;
    case "needs-decode":
      return "only a DEFAULT instance serves without a decode instance";
  }
}

/** `rank 1: its stream is not synchronized`, for the person who asks why an instance has no hits. */
export function describeUncredited({ reason, dpRank }: Uncredited): string {
  switch (reason) {
    case "no-stream":
      return `rank ${dpRank}: no stream`;
    case "other-incarnation":
      return `rank ${dpRank}: its stream was opened for another process`;
    case "unsynchronized":
      return `rank ${dpRank}: its stream is not synchronized`;
  }
}
