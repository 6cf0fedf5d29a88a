/**
 * A writer that never rests: moves three streams from state to state (busy-states.ts) in every way there is, until it is told to
 * stop. Streams 0 and 127 go in step, round by round; stream 64 is also closed and opened, and forgotten.
 */

import { SKIP_REASONS, unsynchronized } from "#domain";
import { type BatchKind, type IndexHandle, KvIndexWriter, type WrittenStream } from "#index";
import { type Announcement, clear } from "./announcements.ts";
import { BUSY_BLOCK_SIZE, BusyAnnouncements, type BusyState, batchSeqOf, EMPTY, PREFIX_MAX, SPARE_MAX } from "./busy-states.ts";

export interface BusyWriterOrder {
  handle: IndexHandle;
  seed: number;
  /** One word; other than 0 means stop. */
  stop: Int32Array;
}

export const BUSY_STREAM_IDS = [0, 64, 127] as const;

type Way = "changes" | "clear" | "state" | "fail" | "large" | "reopen" | "rejoin";
/** As often as they are to be taken. Between two rounds the last two are at none, so they are for stream 64 alone. */
const WAYS: readonly Way[] = ["changes", "changes", "changes", "changes", "clear", "state", "fail", "large", "reopen", "rejoin"];

/** One stream and the state that it is in. */
class BusyStream {
  readonly #writer: KvIndexWriter;
  readonly #stream: WrittenStream;
  readonly #announcements: BusyAnnouncements;
  readonly #skipped = new Uint32Array(SKIP_REASONS.length);
  #state = EMPTY;

  constructor(writer: KvIndexWriter, id: number) {
    this.#writer = writer;
    this.#stream = { id, blockSize: BUSY_BLOCK_SIZE, hashSeed: 1024, counted: false, strict: true };
    this.#announcements = new BusyAnnouncements(id);
    this.#writer.openStream(this.#stream, unsynchronized("not-connected"));
    this.#commit("state", EMPTY, []);
  }

  move(way: Way, next: BusyState): void {
    const [announcements, now] = [this.#announcements, this.#state];
    switch (way) {
      case "changes":
        this.#commit("changes", next, announcements.difference(now, next));
        break;
      case "clear":
        this.#commit("changes", next, [clear, ...announcements.whole(next)]);
        break;
      case "state":
        this.#commit("state", next, announcements.whole(next));
        break;
      case "fail":
        this.#begin("changes", next, announcements.difference(now, next).slice(0, 50));
        this.#writer.fail(this.#stream, unsynchronized("gap", 1, 2));
        this.#commit("state", next, announcements.whole(next));
        break;
      case "large":
        this.#commit("changes", next, [...announcements.comingAndGoing(now), ...announcements.difference(now, next)]);
        break;
      case "reopen":
        this.#writer.closeStream(this.#stream);
        this.#writer.openStream(this.#stream, unsynchronized("not-connected"));
        this.#commit("state", next, announcements.whole(next));
        break;
      case "rejoin": {
        const prefixOnly = { ...next, spare: 0 };
        this.#writer.fail(this.#stream, unsynchronized("gap", 1, 2));
        this.#writer.forget(this.#stream);
        this.#begin("known-part", prefixOnly, announcements.whole(prefixOnly));
        this.#writer.keep(batchSeqOf(prefixOnly));
        this.#commit("known-part", next, announcements.difference(prefixOnly, next));
        break;
      }
    }
    this.#state = next;
  }

  #begin(kind: BatchKind, next: BusyState, announcements: readonly Announcement[]): void {
    this.#writer.begin(this.#stream, kind, batchSeqOf(next), this.#skipped);
    for (const announce of announcements) announce(this.#writer);
  }

  #commit(kind: BatchKind, next: BusyState, announcements: readonly Announcement[]): void {
    this.#begin(kind, next, announcements);
    const problem = this.#writer.problem ?? this.#writer.commit(batchSeqOf(next), "full");
    if (problem !== null) throw new Error(`Cannot commit ${JSON.stringify(next)}: ${JSON.stringify(problem)}`);
  }
}

function write({ handle, seed, stop }: BusyWriterOrder): void {
  const writer = new KvIndexWriter(handle);
  const streams = BUSY_STREAM_IDS.map((id) => ({
    stream: new BusyStream(writer, id),
    ways: id === 64 ? WAYS : WAYS.slice(0, -2),
  }));
  let random = seed >>> 0;
  // The next number of a linear congruential generator, scaled to [0, limit).
  const below = (limit: number) => {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    return Math.floor((random / 2 ** 32) * limit);
  };
  for (let round = 1; Atomics.load(stop, 0) === 0; round++) {
    for (const { stream, ways } of streams) {
      const isEmpty = below(6) === 0;
      const next = { round, prefix: below(PREFIX_MAX + 1), spare: below(SPARE_MAX + 1) };
      stream.move(ways[below(ways.length)], isEmpty ? { ...EMPTY, round } : next);
    }
  }
}

declare const self: Worker;

if (!Bun.isMainThread) {
  self.onmessage = ({ data }: MessageEvent<BusyWriterOrder>) => {
    write(data);
    postMessage("stopped");
  };
}
