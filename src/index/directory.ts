/** The live directory as the main thread sees it: which stream has which id, and what each holds of a prompt. */

import { assert } from "#base";
import { type Namespace, type StreamDescription, type StreamMatch, unsynchronized } from "#domain";
import { type IndexHandle, STREAMS_MAX } from "./memory.ts";
import { type Keyspace, KvIndexReader } from "./reader.ts";

/** Streams that share content keys, and so one walk. */
interface KeyspaceStreams {
  keyspace: Keyspace;
  streams: Map<number, StreamDescription>;
}

/** What is said of a stream that nobody attends to. */
const UNATTENDED: Omit<StreamMatch, "stream"> = {
  unsynchronized: unsynchronized("ingest-stopped"),
  coverage: "full",
  batchSeq: 0,
  deviceHitBlocks: 0,
  hostOnlyHitBlocks: 0,
  diskOnlyHitBlocks: 0,
  deviceBlocks: 0,
  hostBlocks: 0,
  diskBlocks: 0,
};

export class KvDirectory {
  #reader: KvIndexReader;
  #isAttached = true;
  readonly #keyspaces = new Map<string, KeyspaceStreams>();
  readonly #wanted = new Uint32Array(STREAMS_MAX / 32);

  constructor(handle: IndexHandle) {
    this.#reader = new KvIndexReader(handle);
  }

  /** Nobody keeps the index true any more: until the next `attach` every stream answers as unsynchronized. */
  detach(): void {
    this.#isAttached = false;
  }

  /** Reads another index from now on; the streams stay. */
  attach(handle: IndexHandle): void {
    this.#reader = new KvIndexReader(handle);
    this.#isAttached = true;
  }

  addStream(id: number, stream: StreamDescription): void {
    const name = keyspaceName(stream);
    const found = this.#keyspaces.get(name) ?? { keyspace: stream, streams: new Map() };
    assert(!found.streams.has(id), `stream id ${id} is free`);
    found.streams.set(id, stream);
    this.#keyspaces.set(name, found);
  }

  removeStream(id: number): void {
    for (const [name, { streams }] of this.#keyspaces) {
      if (streams.delete(id) && streams.size === 0) this.#keyspaces.delete(name);
    }
  }

  /** Where a prompt's tokens are written before `match`, without anything asynchronous in between. */
  get tokens(): Uint32Array {
    return this.#reader.tokens;
  }

  /** Bytes of memory that the index takes now. */
  get bytesInUse(): number {
    return this.#reader.bytesInUse;
  }

  /**
   * What each stream holds of the first `tokenCount` tokens under the namespace, null for plain text on the base model; its extra
   * keys are by block, of each stream's own block size. `instanceNames` narrows the streams, null means all. "busy" when the
   * index could not be entered in time. Streams of one keyspace are read at one moment.
   */
  match(tokenCount: number, instanceNames: ReadonlySet<string> | null, namespace: Namespace | null): StreamMatch[] | "busy" {
    const matches: StreamMatch[] = [];
    for (const { keyspace, streams } of this.#keyspaces.values()) {
      const wanted = [...streams].filter(([, { instanceName }]) => instanceNames?.has(instanceName) ?? true);
      if (wanted.length === 0) continue;
      if (!this.#isAttached) {
        for (const [, stream] of wanted) matches.push({ stream, ...UNATTENDED });
        continue;
      }
      this.#wanted.fill(0);
      for (const [id] of wanted) this.#wanted[id >> 5] |= 1 << (id & 31);
      if (!this.#reader.match(tokenCount, keyspace, this.#wanted, namespace)) return "busy";
      for (const [id, stream] of wanted) matches.push(this.#reader.read(id, stream));
    }
    return matches;
  }
}

function keyspaceName({ blockSize, hashSeed }: Keyspace): string {
  return `${blockSize}/${hashSeed}`;
}
