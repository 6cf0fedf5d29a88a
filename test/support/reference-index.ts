/**
 * The index as plain Maps and Sets: slow and obvious, with the writer's operations and the reader's answer. Property tests hold
 * the kernel to it. A batch works on a copy of its stream's state, and a commit makes the copy the state.
 */

import { type BlockRemoved, type BlockStored, type KvEventSink, type Tier, type Unsynchronized, unsynchronized } from "#domain";
import type { BatchKind, WrittenStream } from "#index";
import type { ReadStream } from "./read-stream.ts";

/** Ghosts that a stream remembers. */
const GHOSTS_MAX = 4096;

/** What an engine hash names, and how often the engine stored it on each tier. Blocks are replaced, never changed. */
interface Block {
  readonly content: number;
  readonly counts: Readonly<Record<Tier, number>>;
}

/** The blocks that a stream knows, by engine hash, and those of them that may be on no tier, from the oldest on. */
interface State {
  readonly blocks: Map<string, Block>;
  readonly ghosts: Set<string>;
}

interface ReferenceStream {
  readonly written: WrittenStream;
  readonly unsynchronized: Unsynchronized | null;
  readonly batchSeq: number;
  readonly state: State;
  /** The tiers on which the state has each content, and its blocks per tier. */
  readonly residency: Map<number, Set<Tier>>;
  readonly held: Record<Tier, number>;
}

export class ReferenceIndex implements KvEventSink {
  readonly #blocksMax: number;
  readonly #contents = new Map<string, number>();
  readonly #streams = new Map<number, ReferenceStream>();
  #written: WrittenStream = { id: -1, blockSize: 1, hashSeed: 0, counted: false };
  #next: State = emptyState();
  #kind: BatchKind = "changes";
  #batchSeq = 0;

  /** The first thing that went wrong since `begin`. */
  problem: Unsynchronized | null = null;

  constructor(blocksMax: number) {
    this.#blocksMax = blocksMax;
  }

  openStream(written: WrittenStream, reason: Unsynchronized): void {
    const nothing = { state: emptyState(), residency: new Map(), held: { device: 0, host: 0, disk: 0 } };
    this.#streams.set(written.id, { written, unsynchronized: reason, batchSeq: 0, ...nothing });
  }

  closeStream({ id }: WrittenStream): void {
    this.#streams.delete(id);
  }

  begin(written: WrittenStream, kind: BatchKind, batchSeq: number): void {
    const { blocks, ghosts } = this.#stream(written.id).state;
    this.#written = written;
    this.#next = kind === "state" ? emptyState() : { blocks: new Map(blocks), ghosts: new Set(ghosts) };
    this.#kind = kind;
    this.#batchSeq = batchSeq;
    this.problem = null;
  }

  continueWithChanges(batchSeq: number): void {
    this.#kind = "changes";
    this.#batchSeq = batchSeq;
  }

  commit(batchSeq: number): void {
    const residency = new Map<number, Set<Tier>>();
    const held = { device: 0, host: 0, disk: 0 };
    for (const { content, counts } of this.#next.blocks.values()) {
      const tiers = residency.get(content) ?? new Set();
      for (const tier of tiersOf(counts)) {
        residency.set(content, tiers.add(tier));
        held[tier]++;
      }
    }
    const written = this.#written;
    this.#streams.set(written.id, { written, unsynchronized: null, batchSeq, state: this.#next, residency, held });
  }

  fail({ id }: WrittenStream, reason: Unsynchronized): void {
    this.#streams.set(id, { ...this.#stream(id), unsynchronized: reason });
  }

  blockStored(event: BlockStored): void {
    if (this.problem !== null) return;
    const { hashCount, hasParent, tokens, tokenCount, blockSize, tier } = event;
    const hashes = hashNames(event);
    if (tokenCount === 0) {
      for (const hash of hashes) {
        const block = this.#next.blocks.get(hash);
        if (block !== undefined) this.#store(hash, block.content, tier);
      }
      return;
    }
    if (blockSize !== this.#written.blockSize) {
      this.problem = unsynchronized("wrong-block-size", blockSize, this.#written.blockSize);
    } else if (tokenCount !== hashCount * blockSize) {
      this.problem = unsynchronized("wrong-token-count", tokenCount, hashCount);
    }
    const parent = hasParent ? hashName(event.parentLow, event.parentHigh) : null;
    if (this.problem !== null || parent === hashes[0]) return;
    let content: number | undefined = -this.#written.hashSeed;
    if (parent !== null) content = this.#next.blocks.get(parent)?.content;
    if (content === undefined) {
      if (this.#kind === "changes") this.problem = unsynchronized("unknown-parent", this.#batchSeq);
      return;
    }
    for (const [n, hash] of hashes.entries()) {
      content = this.#contentAfter(content, tokens.subarray(n * blockSize, (n + 1) * blockSize));
      this.#store(hash, content, tier);
    }
  }

  blockRemoved(event: BlockRemoved): void {
    if (this.problem !== null) return;
    for (const hash of hashNames(event)) {
      const block = this.#next.blocks.get(hash);
      if (block === undefined || block.counts[event.tier] === 0) continue;
      const counts = { ...block.counts, [event.tier]: this.#written.counted ? block.counts[event.tier] - 1 : 0 };
      this.#next.blocks.set(hash, { ...block, counts });
      if (tiersOf(counts).length > 0) continue;
      if (this.#next.ghosts.size === GHOSTS_MAX && !this.#next.ghosts.has(hash)) this.#forgetGhost();
      this.#next.ghosts.add(hash);
    }
  }

  allBlocksCleared(): void {
    if (this.problem === null) this.#next = emptyState();
  }

  eventSkipped(): void {}

  isSynchronized(id: number): boolean {
    return this.#stream(id).unsynchronized === null;
  }

  /** The stream's answer for the prompt. */
  match(id: number, tokens: Uint32Array): ReadStream {
    const { written, unsynchronized, batchSeq, residency, held } = this.#stream(id);
    const hits = { device: 0, host: 0, disk: 0 };
    let content = -written.hashSeed;
    for (let end = written.blockSize; unsynchronized === null && end <= tokens.length; end += written.blockSize) {
      content = this.#contentAfter(content, tokens.subarray(end - written.blockSize, end));
      const tiers = residency.get(content);
      if (tiers === undefined) break;
      hits[tiers.has("device") ? "device" : tiers.has("host") ? "host" : "disk"]++;
    }
    return {
      unsynchronized,
      batchSeq,
      deviceHitBlocks: hits.device,
      hostOnlyHitBlocks: hits.host,
      diskOnlyHitBlocks: hits.disk,
      deviceBlocks: held.device,
      hostBlocks: held.host,
      diskBlocks: held.disk,
    };
  }

  #stream(id: number): ReferenceStream {
    const stream = this.#streams.get(id);
    if (stream === undefined) throw new Error(`Cannot find stream ${id}: it is not open`);
    return stream;
  }

  #store(hash: string, content: number, tier: Tier): void {
    const { blocks } = this.#next;
    const known = blocks.get(hash);
    while (known === undefined && blocks.size >= this.#blocksMax && this.problem === null) {
      if (!this.#forgetGhost()) this.problem = unsynchronized("block-limit", this.#blocksMax);
    }
    if (this.problem !== null) return;
    const counts = known?.content === content ? known.counts : { device: 0, host: 0, disk: 0 };
    blocks.set(hash, { content, counts: { ...counts, [tier]: this.#written.counted ? counts[tier] + 1 : 1 } });
  }

  /** Forgets the oldest ghost unless it has come back; false when there is none. */
  #forgetGhost(): boolean {
    const { blocks, ghosts } = this.#next;
    const [oldest] = ghosts;
    const block = oldest === undefined ? undefined : blocks.get(oldest);
    if (block !== undefined && tiersOf(block.counts).length === 0) blocks.delete(oldest);
    return ghosts.delete(oldest);
  }

  /** The number of the content that these tokens after that content are. */
  #contentAfter(parent: number, tokens: Uint32Array): number {
    const name = `${parent}:${tokens}`;
    const content = this.#contents.get(name) ?? this.#contents.size + 1;
    this.#contents.set(name, content);
    return content;
  }
}

function emptyState(): State {
  return { blocks: new Map(), ghosts: new Set() };
}

function tiersOf({ device, host, disk }: Block["counts"]): Tier[] {
  const tiers: Tier[] = [];
  if (device > 0) tiers.push("device");
  if (host > 0) tiers.push("host");
  if (disk > 0) tiers.push("disk");
  return tiers;
}

function hashName(low: number, high: number): string {
  return `${high}:${low}`;
}

function hashNames({ hashLanes, hashCount }: { hashLanes: Uint32Array; hashCount: number }): string[] {
  return Array.from({ length: hashCount }, (_, n) => hashName(hashLanes[n * 2], hashLanes[n * 2 + 1]));
}
