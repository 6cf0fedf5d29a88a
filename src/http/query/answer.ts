/** From what the directory knows of a stream to what a client reads: blocks become tokens, a reason becomes a sentence. */

import { describeUnsynchronized, type StreamMatch } from "#domain";
import type { InstanceMatch } from "./schema.ts";

/** The matches in the order of the answer: by instance name in code unit order, then by rank. */
export function describeMatches(matches: StreamMatch[]): InstanceMatch[] {
  return matches.toSorted(byInstanceAndRank).map(describeMatch);
}

function byInstanceAndRank({ stream: left }: StreamMatch, { stream: right }: StreamMatch): number {
  if (left.instanceName === right.instanceName) return left.dpRank - right.dpRank;
  return left.instanceName < right.instanceName ? -1 : 1;
}

function describeMatch(match: StreamMatch): InstanceMatch {
  const { instanceName, dpRank, blockSize } = match.stream;
  const reusableBlocks = match.deviceHitBlocks + match.hostOnlyHitBlocks + match.diskOnlyHitBlocks;
  return {
    instance_name: instanceName,
    dp_rank: dpRank,
    synchronized: match.unsynchronized === null,
    coverage: match.coverage,
    sequence: match.batchSeq,
    device_hit_tokens: match.deviceHitBlocks * blockSize,
    host_only_hit_tokens: match.hostOnlyHitBlocks * blockSize,
    disk_only_hit_tokens: match.diskOnlyHitBlocks * blockSize,
    reusable_prefix_tokens: reusableBlocks * blockSize,
    device_blocks: match.deviceBlocks,
    host_blocks: match.hostBlocks,
    disk_blocks: match.diskBlocks,
    error: match.unsynchronized === null ? null : describeUnsynchronized(match.unsynchronized),
  };
}
