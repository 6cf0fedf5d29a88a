/** An ingest thread over real sockets, and simulated engines that it listens to. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { LogFields } from "#base";
import type { StreamMatch } from "#domain";
import { runEngines, SimulatedEngine } from "#sim";
import { IngestSupervisor } from "#stream";
import { type Breakage, CHANNEL, UNDERSTOOD } from "./faulty.thread.ts";

const BLOCK_SIZE = 4;

const CACHE = { blockSize: BLOCK_SIZE, deviceBlocksMax: 100, hostBlocksMax: 0, offloadForm: "with-tokens" } as const;

const LIMITS = {
  maxStreams: 4,
  maxBlocksPerStream: 1000,
  maxMessageBytes: 1_000_000,
  maxBufferedBytes: 1_000_000,
  replayTimeoutMs: 2000,
  resyncIntervalMs: 30_000,
};

/** Longer than a busy machine keeps a healthy thread from its turn. */
const HANG_MS = 4000;

/** How often an engine looks for requests, and the test for what it waits for. */
const LOOK_AGAIN_MS = 2;

export class IngestScene {
  readonly engines: readonly SimulatedEngine[];
  /** Fields of the supervisor's errors. */
  readonly errors: LogFields[];
  readonly #supervisor: IngestSupervisor;
  readonly #channel = new BroadcastChannel(CHANNEL);
  /** The engines that answer requests. */
  readonly #serving: SimulatedEngine[];
  readonly #enough = new AbortController();
  readonly #running: Promise<void>;

  private constructor(supervisor: IngestSupervisor, engines: readonly SimulatedEngine[], errors: LogFields[]) {
    this.#supervisor = supervisor;
    this.engines = engines;
    this.errors = errors;
    this.#serving = [...engines];
    this.#running = runEngines(this.#serving, { intervalMs: LOOK_AGAIN_MS, signal: this.#enough.signal });
  }

  /** Three engines that hold 1, 2 and 3 blocks of the prompt; the first two are listened to, and the silent ones never answer. */
  static async start({ silent = [] }: { silent?: string[] } = {}): Promise<IngestScene> {
    const errors: LogFields[] = [];
    const logger = { info: () => {}, warn: () => {}, error: (_message: string, fields: LogFields = {}) => errors.push(fields) };
    const threadUrl = new URL("./faulty.thread.ts", import.meta.url);
    const supervisor = await IngestSupervisor.start({ limits: LIMITS, logger, threadUrl, hangMs: HANG_MS });
    const engines = [1, 2, 3].map((blocks) => {
      const engine = new SimulatedEngine({ name: `engine-${blocks}`, cache: { ...CACHE, chainSeed: BigInt(blocks) } });
      if (silent.includes(engine.name)) engine.fault = "silent";
      engine.step([prompt(blocks)]);
      return engine;
    });
    for (const engine of engines.slice(0, 2)) supervisor.addStream(engine.stream);
    return new IngestScene(supervisor, engines, errors);
  }

  get supervisor(): IngestSupervisor {
    return this.#supervisor;
  }

  /** Breaks the thread; done when it knows how. */
  async break(breakage: Breakage): Promise<void> {
    const understood = Promise.withResolvers<void>();
    this.#channel.onmessage = ({ data }) => {
      if (data === UNDERSTOOD) understood.resolve();
    };
    this.#channel.postMessage(breakage);
    await understood.promise;
  }

  /** The thread's turn at hand takes long, or the next one: for a caller that does not let go of its own thread. */
  stall(): void {
    this.#channel.postMessage("stall" satisfies Breakage);
    Bun.sleepSync(50);
  }

  /** What each stream holds of the prompt, by name and rank; nothing when the index is busy. */
  get matches(): StreamMatch[] {
    const { directory } = this.#supervisor;
    directory.tokens.set(prompt(10));
    const matches = directory.match(10 * BLOCK_SIZE, null, null);
    return matches === "busy" ? [] : matches.sort((a, b) => (a.stream.instanceName < b.stream.instanceName ? -1 : 1));
  }

  /** Hits by engine of those that are synchronized: `{ "engine-1": 1 }`. */
  get hits(): Record<string, number> {
    const live = this.matches.filter(({ unsynchronized }) => unsynchronized === null);
    return Object.fromEntries(live.map(({ stream, deviceHitBlocks }) => [stream.instanceName, deviceHitBlocks]));
  }

  /** Why each stream is not synchronized, by engine; null where it is. */
  get reasons(): Record<string, string | null> {
    return Object.fromEntries(
      this.matches.map(({ stream, unsynchronized }) => [stream.instanceName, unsynchronized?.reason ?? null]),
    );
  }

  /** The engine publishes that it now holds so many blocks of the prompt. */
  grow(engine: SimulatedEngine, blocks: number): void {
    engine.step([prompt(blocks)]);
  }

  /** From now on the engine holds so many blocks, none of them the prompt's. */
  turnAway(engine: SimulatedEngine, blocks: number): void {
    engine.clear();
    engine.step([prompt(blocks).map((token) => token + 1000)]);
  }

  /** Answers the engines' requests for so long, and lets nothing else of this thread run: no report comes in. */
  serveAlone(durationMs: number): void {
    for (const endMs = performance.now() + durationMs; performance.now() < endMs; Bun.sleepSync(1)) {
      for (const engine of this.#serving) engine.serve();
    }
  }

  /** The engine is gone. */
  lose(engine: SimulatedEngine): void {
    this.#serving.splice(this.#serving.indexOf(engine), 1);
    engine.close();
  }

  /** Waits until the directory answers with these hits and says that it can be asked. */
  async untilHits(hits: Record<string, number>): Promise<void> {
    await this.until(
      `hits ${JSON.stringify(hits)}`,
      () => this.#supervisor.notReady() === null && Bun.deepEquals(this.hits, hits),
    );
  }

  /** Asks without pause, and lets in what else there is between: every answer is looked at until `look` says that it is enough. */
  async watch(what: string, look: (matches: StreamMatch[]) => boolean, limitMs = 8000): Promise<void> {
    const deadlineMs = performance.now() + limitMs;
    for (let count = 0; !look(this.matches); count++) {
      if (performance.now() > deadlineMs) throw new Error(`Cannot go on: ${what} did not come`);
      if (count % 20 === 0) await nextTurn();
    }
  }

  async until(what: string, isSo: () => boolean, limitMs = 8000): Promise<void> {
    const deadlineMs = performance.now() + limitMs;
    while (!isSo()) {
      if (performance.now() > deadlineMs)
        throw new Error(`Cannot go on: ${what} did not come, hits are ${JSON.stringify(this.hits)}`);
      await Bun.sleep(LOOK_AGAIN_MS);
    }
  }

  /** Ends everything; tells how long the supervisor took. */
  async stop(): Promise<number> {
    this.#enough.abort();
    await this.#running;
    const beganMs = performance.now();
    await this.#supervisor.stop();
    const tookMs = performance.now() - beganMs;
    for (const engine of this.engines) engine.close();
    this.#channel.close();
    return tookMs;
  }
}

/** The first blocks of the one prompt that tests speak of. */
function prompt(blocks: number): Uint32Array {
  return Uint32Array.from({ length: blocks * BLOCK_SIZE }, (_, n) => n);
}
