/**
 * The index as plain Maps and Sets: slow and obvious, with the writer's operations and the reader's answer. Property tests hold
 * the kernel to it. A batch works on a copy of its stream's state, and a commit makes the copy the state.
 */

import {
  type BlockRemoved,
  type BlockStored,
  type Coverage,
  type KvEventSink,
  type Namespace,
  type Tier,
  type Unsynchronized,
  unsynchronized,
} from "#domain";
import type { BatchKind, WrittenStream } from "#index";
import type { ReadStream } from "./read-stream.ts";
import { ReferenceContents } from "./reference-contents.ts";

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
  readonly coverage: Coverage;
  readonly batchSeq: number;
  readonly state: State;
  /** The tiers on which the state has each content, and its blocks per tier. */
  readonly residency: Map<number, Set<Tier>>;
  readonly held: Record<Tier, number>;
}

export class ReferenceIndex implements KvEventSink {
  readonly #blocksMax: number;
  readonly #contents = new ReferenceContents();
  readonly #streams = new Map<number, ReferenceStream>();
  #written: WrittenStream = { id: -1, blockSize: 1, hashSeed: 0, counted: false, strict: true };
  #next: State = emptyState();
  #kind: BatchKind = "changes";
  #batchSeq = 0;

  /** The first thing that went wrong since `begin`. */
  problem: Unsynchronized | null = null;
  /** Whether a store was left out that the engine holds, and whether everything was cleared. */
  isIncomplete = false;
  wasCleared = false;

  constructor(blocksMax: number) {
    this.#blocksMax = blocksMax;
  }

  openStream(written: WrittenStream, reason: Unsynchronized): void {
    this.#streams.set(written.id, { written, unsynchronized: reason, coverage: "full", batchSeq: 0, ...NOTHING });
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
    this.isIncomplete = false;
    this.wasCleared = false;
  }

  continueWithChanges(batchSeq: number): void {
    this.#kind = "changes";
    this.#batchSeq = batchSeq;
  }

  commit(batchSeq: number, coverage: Coverage): void {
    this.keep(batchSeq);
    this.#streams.set(this.#written.id, { ...this.#stream(this.#written.id), unsynchronized: null, coverage });
  }

  keep(batchSeq: number): void {
    const residency = new Map<number, Set<Tier>>();
    const held = { device: 0, host: 0, disk: 0 };
    for (const { content, counts } of this.#next.blocks.values()) {
      const tiers = residency.get(content) ?? new Set();
      for (const tier of tiersOf(counts)) {
        residency.set(content, tiers.add(tier));
        held[tier]++;
      }
    }
    const { id } = this.#written;
    this.#streams.set(id, { ...this.#stream(id), batchSeq, state: this.#next, residency, held });
  }

  fail({ id }: WrittenStream, reason: Unsynchronized): void {
    this.#streams.set(id, { ...this.#stream(id), unsynchronized: reason });
  }

  forget({ id }: WrittenStream): void {
    this.#streams.set(id, { ...this.#stream(id), coverage: "full", batchSeq: 0, ...NOTHING });
  }

  blockStored(event: BlockStored): void {
    if (this.problem !== null) return;
    const { hashCount, hasParent, tokens, tokenCount, blockSize, tier, namespace } = event;
    const hashes = hashNames(event);
    if (tokenCount === 0) {
      for (const hash of hashes) {
        const block = this.#next.blocks.get(hash);
        if (block !== undefined) this.#store(hash, block.content, tier);
      }
      return;
    }
    const parent = hasParent ? hashName(event.parentLow, event.parentHigh) : null;
    if (blockSize !== this.#written.blockSize) {
      this.#leaveOut(unsynchronized("wrong-block-size", blockSize, this.#written.blockSize));
    } else if (tokenCount !== hashCount * blockSize) {
      this.#leaveOut(unsynchronized("wrong-token-count", tokenCount, hashCount));
    } else if (parent === hashes[0]) {
      this.isIncomplete = true;
    } else {
      const known = this.#written.strict || tier === "device" ? 0 : this.#offloadKnown(hashes, tier);
      if (known === hashes.length) return;
      const rest = tokens.subarray(known * blockSize, tokenCount);
      if (known === 0) this.#storeBehind(parent, hashes, rest, namespace, tier);
      else {
        const keys = namespace && { root: null, extraKeys: namespace.extraKeys?.slice(known) ?? null };
        this.#storeBehind(hashes[known - 1], hashes.slice(known), rest, keys, tier);
      }
    }
  }

  /** Blocks that are known keep their content when they are offloaded; how many there are from the first on. */
  #offloadKnown(hashes: readonly string[], tier: Tier): number {
    const isUnknown = (hash: string) => !this.#next.blocks.has(hash);
    const known = hashes.some(isUnknown) ? hashes.findIndex(isUnknown) : hashes.length;
    for (const hash of hashes.slice(0, known)) this.#store(hash, (this.#next.blocks.get(hash) as Block).content, tier);
    return known;
  }

  #storeBehind(
    parent: string | null,
    hashes: readonly string[],
    tokens: Uint32Array,
    namespace: Namespace | null,
    tier: Tier,
  ): void {
    const { hashSeed, blockSize } = this.#written;
    const known = parent === null ? undefined : this.#next.blocks.get(parent);
    if (parent === null) this.#storeAll(hashes, this.#contents.prompt(hashSeed, tokens, blockSize, namespace), tier);
    else if (known === undefined) this.#missParent();
    else this.#storeAll(hashes, this.#contents.children(known.content, tokens, blockSize, namespace), tier);
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
    if (this.problem !== null) return;
    this.#next = emptyState();
    this.isIncomplete = false;
    this.wasCleared = true;
  }

  eventSkipped(): void {}

  isSynchronized(id: number): boolean {
    return this.#stream(id).unsynchronized === null;
  }

  /** The stream's answer for the prompt. */
  match(id: number, tokens: Uint32Array, namespace: Namespace | null): ReadStream {
    const { written, unsynchronized, coverage, batchSeq, residency, held } = this.#stream(id);
    const hits = { device: 0, host: 0, disk: 0 };
    for (const content of this.#contents.prompt(written.hashSeed, tokens, written.blockSize, namespace)) {
      if (unsynchronized !== null) break;
      const tiers = residency.get(content);
      if (tiers === undefined) break;
      hits[tiers.has("device") ? "device" : tiers.has("host") ? "host" : "disk"]++;
    }
    return {
      unsynchronized,
      coverage,
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

  #leaveOut(problem: Unsynchronized): void {
    this.isIncomplete = true;
    if (this.#written.strict) this.problem = problem;
  }

  #missParent(): void {
    if (this.#kind === "changes") this.problem = unsynchronized("unknown-parent", this.#batchSeq);
    else if (this.#kind === "known-part" || !this.#written.strict) this.isIncomplete = true;
  }

  #storeAll(hashes: readonly string[], contents: Iterable<number>, tier: Tier): void {
    let n = 0;
    for (const content of contents) this.#store(hashes[n++], content, tier);
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
}

/** What a stream has that holds nothing; never written to. */
const NOTHING = { state: emptyState(), residency: new Map<number, Set<Tier>>(), held: { device: 0, host: 0, disk: 0 } };

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
