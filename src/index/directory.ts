/** The live directory as the main thread sees it: which stream has which id, and what each holds of a prompt. */

import { assert } from "#base";
import { type Namespace, type StreamDescription, type StreamMatch, unsynchronized } from "#domain";
import { type IndexFigures, type IndexHandle, STREAMS_MAX } from "./memory.ts";
import { type Keyspace, KvIndexReader } from "./reader.ts";

interface PlacedStream {
  id: number;
  stream: StreamDescription;
}

/** Streams that share content keys, and so one walk. */
interface KeyspaceStreams {
  keyspace: Keyspace;
  /** Walked with every prompt, and seldom changed. */
  streams: PlacedStream[];
}

/** What is said of a stream whose place in the index is not read. */
const UNREAD: Omit<StreamMatch, "stream" | "unsynchronized"> = {
  coverage: "full",
  batchSeq: 0,
  deviceHitBlocks: 0,
  hostOnlyHitBlocks: 0,
  diskOnlyHitBlocks: 0,
  deviceBlocks: 0,
  hostBlocks: 0,
  diskBlocks: 0,
};

/** `awaited`: the writer has not taken the stream in yet, and its id may still hold what was there before. */
export type StreamPlace = "opened" | "awaited";

export class KvDirectory {
  #reader: KvIndexReader;
  #isAttached = true;
  /** Streams whose id may still show another stream's state: never read. */
  readonly #awaited = new Map<number, StreamDescription>();
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

  /** The id must be free. An awaited stream answers as not connected until it is said to be open. */
  addStream(id: number, stream: StreamDescription, place: StreamPlace = "opened"): void {
    assert(!this.#isTaken(id), `stream id ${id} is free`);
    if (place === "awaited") this.#awaited.set(id, stream);
    else this.#read(id, stream);
  }

  /** The writer has opened the stream under its id; of one that was not awaited this is no news. */
  streamOpened(id: number): void {
    const stream = this.#awaited.get(id);
    if (stream === undefined) return;
    this.#awaited.delete(id);
    this.#read(id, stream);
  }

  /** The stream is in no answer from now on, whenever the writer takes it out. */
  removeStream(id: number): void {
    if (this.#awaited.delete(id)) return;
    for (const [name, placed] of this.#keyspaces) {
      placed.streams = placed.streams.filter((stream) => stream.id !== id);
      if (placed.streams.length === 0) this.#keyspaces.delete(name);
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

  /** How full the index is. */
  get figures(): IndexFigures {
    return this.#reader.figures;
  }

  /**
   * What each stream holds of the first `tokenCount` tokens under the namespace, null for plain text on the base model; its extra
   * keys are by block, of each stream's own block size. `instanceNames` narrows the streams, null means all. "busy" when the
   * index could not be entered in time. Streams of one keyspace are read at one moment.
   */
  match(tokenCount: number, instanceNames: ReadonlySet<string> | null, namespace: Namespace | null): StreamMatch[] | "busy" {
    const isWanted = ({ instanceName }: StreamDescription) => instanceNames?.has(instanceName) ?? true;
    const matches: StreamMatch[] = [];
    for (const stream of this.#awaited.values()) if (isWanted(stream)) matches.push(this.#unread(stream));
    for (const { keyspace, streams } of this.#keyspaces.values()) {
      const wanted = instanceNames === null ? streams : streams.filter(({ stream }) => isWanted(stream));
      if (wanted.length === 0) continue;
      if (!this.#isAttached) {
        for (const { stream } of wanted) matches.push(this.#unread(stream));
        continue;
      }
      this.#wanted.fill(0);
      for (const { id } of wanted) this.#wanted[id >> 5] |= 1 << (id & 31);
      if (!this.#reader.match(tokenCount, keyspace, this.#wanted, namespace)) return "busy";
      for (const { id, stream } of wanted) matches.push(this.#reader.read(id, stream));
    }
    return matches;
  }

  #unread(stream: StreamDescription): StreamMatch {
    return { stream, unsynchronized: unsynchronized(this.#isAttached ? "not-connected" : "ingest-stopped"), ...UNREAD };
  }

  #isTaken(id: number): boolean {
    const isPlaced = ({ streams }: KeyspaceStreams) => streams.some((placed) => placed.id === id);
    return this.#awaited.has(id) || [...this.#keyspaces.values()].some(isPlaced);
  }

  #read(id: number, stream: StreamDescription): void {
    const name = keyspaceName(stream);
    const found = this.#keyspaces.get(name) ?? { keyspace: stream, streams: [] };
    found.streams.push({ id, stream });
    this.#keyspaces.set(name, found);
  }
}

function keyspaceName({ blockSize, hashSeed }: Keyspace): string {
  return `${blockSize}/${hashSeed}`;
}
