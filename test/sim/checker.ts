/**
 * What every stream promises, checked against what its publisher really held: a synchronized stream answers exactly with the
 * state after the batch that it names, any other stream with nothing and a reason.
 */

import { describeUnsynchronized, type StreamMatch } from "#domain";
import type { KvDirectory } from "#index";
import type { BlockTree } from "./block-tree.ts";
import { DEVICE, HOST, type Holdings, type Publisher } from "./publisher.ts";

/** A broken promise. */
export class PromiseBroken extends Error {}

/** A stream, and the process of whose states it answers with the one that its batch sequence names. */
export interface CheckedStream {
  isLive: boolean;
  publisher: Pick<Publisher, "after"> | null;
}

export interface CheckCounts {
  synchronized: number;
  unsynchronized: number;
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
      const matches = this.#directory.match(tokens.length, null);
      if (matches === "busy") throw new PromiseBroken("the index is busy although nobody writes");
      for (const match of matches) {
        const stream = streams.get(match.stream.instanceName);
        if (stream === undefined) throw new PromiseBroken(`${match.stream.instanceName} is answered for and does not exist`);
        checkMatch(match, stream, path);
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
  const { deviceBlocks, hostBlocks, diskBlocks } = match;
  const found = { deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks, deviceBlocks, hostBlocks, diskBlocks };
  const needed = states.map((holdings) => expected(holdings, path));
  if (needed.some((answer) => Bun.deepEquals(found, answer))) return;
  throw new PromiseBroken(
    `${name} after batch ${batchSeq} answers ${JSON.stringify(found)} for blocks ${path.join("-")}, ${JSON.stringify(needed)} is true`,
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
