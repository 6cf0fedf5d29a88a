import { describe, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type StreamDescription, type StreamMatch, TIERS } from "#domain";
import { createIndex, type IndexHandle, KvDirectory } from "#index";
import { BUSY_BLOCK_SIZE, BUSY_PROMPT, prefixBlocksOn, stateOf } from "./busy-states.ts";
import { BUSY_STREAM_IDS, type BusyWriterOrder } from "./busy-writer.worker.ts";
import { printSeed, TEST_SEED } from "./seed.ts";

printSeed("test/index/threads.test.ts");

const DURATION_MS = 10_000;
/** Matches between turns of the event loop. */
const MATCHES_PER_TURN = 200;
/** Observations of a kind without which nothing is proved. */
const OBSERVATIONS_MIN = 1000;

function createDirectory(handle: IndexHandle): KvDirectory {
  const directory = new KvDirectory(handle);
  for (const id of BUSY_STREAM_IDS) {
    const keyspace = { blockSize: BUSY_BLOCK_SIZE, hashSeed: 1024 };
    const sockets = {
      endpoint: "tcp://10.0.0.5:18000",
      replayEndpoint: "tcp://10.0.0.5:38000",
      topic: "",
      incarnation: "",
      curveServerKey: null,
    };
    const stream: StreamDescription = { instanceName: `${id}`, dpRank: 0, engine: "xllm", ...keyspace, ...sockets };
    directory.addStream(id, stream);
  }
  directory.tokens.set(BUSY_PROMPT);
  return directory;
}

/** Checks every answer of a match by itself, against the match before and against each other. */
class Observer {
  readonly batchSeqs = new Set<number>();
  readonly reasons: Record<string, number> = {};
  hits = 0;
  #last: StreamMatch[] = [];

  observe(matches: StreamMatch[]): void {
    const [first, reopened, last] = matches.map((match, n) => {
      this.#observeStream(match);
      const { round } = stateOf(match.batchSeq);
      const roundBefore = stateOf(this.#last[n]?.batchSeq ?? 0).round;
      // A stream that has just been opened is at batch 0.
      if (match.batchSeq !== 0) expect(round).toBeGreaterThanOrEqual(roundBefore);
      return round;
    });
    // One moment for all streams: stream 127 follows stream 0 round by round.
    if (first - last !== 0 && first - last !== 1) throw new Error(`Streams at rounds ${[first, reopened, last]} at one moment`);
    this.#last = matches;
  }

  #observeStream(match: StreamMatch): void {
    const { unsynchronized, batchSeq } = match;
    const { prefix, spare } = stateOf(batchSeq);
    const found = [match.deviceHitBlocks, match.hostOnlyHitBlocks, match.diskOnlyHitBlocks];
    const blocks = [match.deviceBlocks, match.hostBlocks, match.diskBlocks];
    const prefixBlocks = TIERS.map((tier) => prefixBlocksOn(tier, prefix));
    const expected = unsynchronized === null ? prefixBlocks : [0, 0, 0];
    const expectedBlocks = [prefixBlocks[0] + spare, prefixBlocks[1], prefixBlocks[2]];
    if (!Bun.deepEquals([found, blocks], [expected, expectedBlocks])) {
      throw new Error(`Not the state of one batch: ${JSON.stringify({ match, expected, expectedBlocks })}`);
    }
    const reason = unsynchronized?.reason ?? "synchronized";
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
    this.batchSeqs.add(batchSeq);
    if (found[0] > 0) this.hits++;
  }
}

describe("KvIndex between threads", () => {
  test(
    "KvIndex shows a reader whole states only, while another thread writes as fast as it can",
    async () => {
      const handle = await createIndex({ maxStreams: 128, maxBlocksPerStream: 10_000 });
      const directory = createDirectory(handle);
      const worker = new Worker(new URL("./busy-writer.worker.ts", import.meta.url).href);
      const stop = new Int32Array(new SharedArrayBuffer(4));
      const ended = new Promise<void>((resolve, reject) => {
        worker.onmessage = () => resolve();
        worker.onerror = ({ message }) => reject(new Error(message));
      });
      worker.postMessage({ handle, seed: TEST_SEED, stop } satisfies BusyWriterOrder);

      const observer = new Observer();
      let busy = 0;
      try {
        for (const end = performance.now() + DURATION_MS; performance.now() < end; ) {
          await Promise.race([nextTurn(), ended]);
          for (let n = 0; n < MATCHES_PER_TURN; n++) {
            const matches = directory.match(BUSY_PROMPT.length, null, null);
            if (matches === "busy") busy++;
            else observer.observe(matches);
          }
        }
      } finally {
        Atomics.store(stop, 0, 1);
      }
      await ended;
      worker.terminate();

      expect(observer.hits).toBeGreaterThan(OBSERVATIONS_MIN);
      expect(observer.batchSeqs.size).toBeGreaterThan(OBSERVATIONS_MIN);
      for (const reason of ["gap", "large-batch"]) expect(observer.reasons[reason]).toBeGreaterThan(OBSERVATIONS_MIN);
      // A machine may stop the writer within a step for longer than readers wait, but not all the time.
      expect(busy).toBeLessThan(10);
    },
    DURATION_MS + 30_000,
  );

  test("KvIndex answers busy while a writer stays within a step, and serves again after it", async () => {
    const handle = await createIndex({ maxStreams: 128, maxBlocksPerStream: 1000 });
    const directory = createDirectory(handle);
    const worker = new Worker(new URL("./lock-holder.worker.ts", import.meta.url).href);
    const told = async (order: IndexHandle | null): Promise<unknown> => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(order);
      return promise;
    };
    expect(await told(handle)).toBe("held");
    expect(directory.match(0, null, null)).toBe("busy");
    expect(directory.match(0, null, null)).toBe("busy");
    expect(await told(null)).toBe("released");
    expect(directory.match(0, null, null)).toHaveLength(BUSY_STREAM_IDS.length);
    worker.terminate();
  });
});
