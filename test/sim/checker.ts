/**
 * What every stream promises, checked against what its publisher really held: a synchronized stream with full coverage answers
 * exactly with the state after the batch that it names; with partial coverage with what of it is known to a stream that joined
 * at some time; any other stream with nothing and a reason.
 */

import { describeUnsynchronized, type StreamMatch } from "#domain";
import type { KvDirectory } from "#index";
import type { BlockTree } from "./block-tree.ts";
import { DEVICE, HOST, type Holdings } from "./followed-cache.ts";
import type { Publisher } from "./publisher.ts";

/** A broken promise. */
export class PromiseBroken extends Error {}

/** A stream, and the process of whose states it answers with the one that its batch sequence names. */
export interface CheckedStream {
  isLive: boolean;
  publisher: Pick<Publisher, "after" | "knownInPart"> | null;
}

export interface CheckCounts {
  synchronized: number;
  unsynchronized: number;
  /** Answers with partial coverage that were not empty. */
  partial: number;
}

export class Checker {
  readonly #directory: KvDirectory;
  readonly #prompts: { path: number[]; tokens: Uint32Array }[];

  constructor(directory: KvDirectory, tree: BlockTree) {
    this.#directory = directory;
    this.#prompts = tree.leaves.map((leaf) => ({ path: tree.path(leaf), tokens: tree.tokens(tree.path(leaf)) }));
  }

  /** Throws PromiseBroken; counts what was checked. */
  check(streams: ReadonlyMap<string, CheckedStream>, counts: CheckCounts): void {
    for (const { path, tokens } of this.#prompts) {
      this.#directory.tokens.set(tokens);
      const matches = this.#directory.match(tokens.length, null, null);
      if (matches === "busy") throw new PromiseBroken("the index is busy although nobody writes");
      for (const match of matches) {
        const stream = streams.get(match.stream.instanceName);
        if (stream === undefined) throw new PromiseBroken(`${match.stream.instanceName} is answered for and does not exist`);
        checkMatch(match, stream, path);
        if (match.unsynchronized === null && match.coverage === "partial" && match.deviceBlocks > 0) counts.partial += 1;
      }
    }
    for (const { isLive } of streams.values()) counts[isLive ? "synchronized" : "unsynchronized"] += 1;
  }
}

function checkMatch(match: StreamMatch, { isLive, publisher }: CheckedStream, path: readonly number[]): void {
  const { stream, unsynchronized, batchSeq, deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks } = match;
  const name = stream.instanceName;
  if (unsynchronized !== null) {
    if (isLive) throw new PromiseBroken(`${name} is live and answers "${describeUnsynchronized(unsynchronized)}"`);
    const hits = deviceHitBlocks + hostOnlyHitBlocks + diskOnlyHitBlocks;
    if (hits !== 0) throw new PromiseBroken(`${name} is not synchronized and has ${hits} hits`);
    return;
  }
  if (!isLive) throw new PromiseBroken(`${name} is not live and answers as synchronized`);
  const states = publisher?.after(batchSeq) ?? [];
  if (states.length === 0) throw new PromiseBroken(`${name} names batch ${batchSeq}, which its publisher never sent`);
  const { coverage, deviceBlocks, hostBlocks, diskBlocks } = match;
  const found = { deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks, deviceBlocks, hostBlocks, diskBlocks };
  const whole = states.map((holdings) => expected(holdings, path));
  if (coverage === "full") {
    if (whole.some((answer) => Bun.deepEquals(found, answer))) return;
    throw new PromiseBroken(`${name} ${described(match, path)}, ${JSON.stringify(whole)} is true`);
  }
  if (!whole.some((answer) => isPartOf(found, answer))) {
    throw new PromiseBroken(`${name} ${described(match, path)}, at most ${JSON.stringify(whole)} is true`);
  }
  const isKnown = (publisher?.knownInPart(batchSeq) ?? []).some(({ holdings, isExact }) => {
    const answer = expected(holdings, path);
    return isExact ? Bun.deepEquals(found, answer) : isPartOf(found, answer);
  });
  if (!isKnown) throw new PromiseBroken(`${name} ${described(match, path)}, which nobody knows who joined at any time`);
}

function described({ stream: _stream, ...answer }: StreamMatch, path: readonly number[]): string {
  return `answers ${JSON.stringify(answer)} for blocks ${path.join("-")}`;
}

type Answer = ReturnType<typeof expected>;

/** Whether the answer claims nothing that the whole one does not: a block known on the host alone may be on the device as well. */
function isPartOf(part: Answer, whole: Answer): boolean {
  return (
    part.deviceHitBlocks + part.hostOnlyHitBlocks <= whole.deviceHitBlocks + whole.hostOnlyHitBlocks &&
    part.deviceHitBlocks <= whole.deviceHitBlocks &&
    part.deviceBlocks <= whole.deviceBlocks &&
    part.hostBlocks <= whole.hostBlocks
  );
}

function expected(holdings: Holdings, path: readonly number[]) {
  const absent = path.findIndex((block) => holdings[block] === 0);
  const hits = absent < 0 ? path : path.slice(0, absent);
  const hostOnlyHitBlocks = hits.filter((block) => holdings[block] === HOST).length;
  return {
    deviceHitBlocks: hits.length - hostOnlyHitBlocks,
    hostOnlyHitBlocks,
    diskOnlyHitBlocks: 0,
    deviceBlocks: blocksOn(DEVICE, holdings),
    hostBlocks: blocksOn(HOST, holdings),
    diskBlocks: 0,
  };
}

function blocksOn(tier: number, holdings: Holdings): number {
  let blocks = 0;
  for (const tiers of holdings) if ((tiers & tier) !== 0) blocks += 1;
  return blocks;
}
