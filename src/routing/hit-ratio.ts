/**
 * How much of a prompt an instance need not compute. Which rank serves is the engine's choice, so an instance counts as the rank
 * that holds least; a rank that nobody listens to, or not in step, or in another process, holds nothing.
 */

import type { InstanceRegistration, StreamMatch } from "#domain";
import type { PrefixHits, Uncredited } from "./candidate.ts";

/** What a token on a slower tier is worth, relative to one on the device; 0 to 1. */
export interface HitWeights {
  hostHitWeight: number;
  diskHitWeight: number;
}

/** `(device + predicted + host_weight·host_only + disk_weight·disk_only) / input tokens`, clamped to 0..1; 0 of an empty prompt. */
export function kvHitRatio(hits: PrefixHits, tokenCount: number, weights: HitWeights): number {
  if (tokenCount === 0) return 0;
  return Math.min(Math.max((weighted(hits, weights) + hits.predictedTokens) / tokenCount, 0), 1);
}

/** Tokens of the prompt's prefix that were measured, on whichever tier. */
export function measuredTokens({ deviceTokens, hostOnlyTokens, diskOnlyTokens }: PrefixHits): number {
  return deviceTokens + hostOnlyTokens + diskOnlyTokens;
}

/** What the instance's streams say it holds; `matches` are those of its name, in any order. Nothing is predicted here. */
export function measuredHits(
  registration: InstanceRegistration,
  matches: readonly StreamMatch[],
  weights: HitWeights,
): PrefixHits {
  let least: PrefixHits | null = null;
  for (let dpRank = 0; dpRank < registration.dpSize; dpRank++) {
    const hits = rankHits(registration.incarnation, matches, dpRank);
    if (hits.uncredited !== null) return hits;
    if (least === null || weighted(hits, weights) < weighted(least, weights)) least = hits;
  }
  return least ?? noHits("no-stream", 0);
}

function rankHits(incarnation: string, matches: readonly StreamMatch[], dpRank: number): PrefixHits {
  let reason: Uncredited["reason"] = "no-stream";
  for (const match of matches) {
    if (match.stream.dpRank !== dpRank) continue;
    if (match.stream.incarnation !== incarnation) reason = "other-incarnation";
    else if (match.unsynchronized !== null) return noHits("unsynchronized", dpRank);
    else return hitsOf(match);
  }
  return noHits(reason, dpRank);
}

function hitsOf({ stream: { blockSize }, deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks }: StreamMatch): PrefixHits {
  return {
    deviceTokens: deviceHitBlocks * blockSize,
    hostOnlyTokens: hostOnlyHitBlocks * blockSize,
    diskOnlyTokens: diskOnlyHitBlocks * blockSize,
    predictedTokens: 0,
    uncredited: null,
  };
}

function noHits(reason: Uncredited["reason"], dpRank: number): PrefixHits {
  return { deviceTokens: 0, hostOnlyTokens: 0, diskOnlyTokens: 0, predictedTokens: 0, uncredited: { reason, dpRank } };
}

function weighted({ deviceTokens, hostOnlyTokens, diskOnlyTokens }: PrefixHits, weights: HitWeights): number {
  return deviceTokens + weights.hostHitWeight * hostOnlyTokens + weights.diskHitWeight * diskOnlyTokens;
}
