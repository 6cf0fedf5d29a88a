/**
 * One simulation: some publishers, a stream to each over a faulty network, the real event streams and the real index. Everything
 * follows from the seed. After each step the promises are checked; at the end faults stop, and all must be well again.
 */

import type { Engine, StreamDescription } from "#domain";
import type { KvDirectory, KvIndexWriter } from "#index";
import { SeededRandom } from "#sim";
import { EventStream, StreamIndex, type StreamSockets } from "#stream";
import { dialectOf } from "#wire";
import { FakeClock } from "../support/fake-clock.ts";
import { BlockTree } from "./block-tree.ts";
import { type CheckCounts, type CheckedStream, Checker, PromiseBroken } from "./checker.ts";
import { type Fault, Faults } from "./faults.ts";
import type { RecoveryKind } from "./faulty-messages.ts";
import { SimulatedHost } from "./host.ts";
import type { SimulatedNetwork } from "./network.ts";
import { Trace } from "./trace.ts";

export const STREAMS_MAX = 4;
/** Blocks of a stream: some more than a publisher usually holds, fewer than it can. */
export const BLOCKS_MAX = 22;

const STEPS = 150;
const LIMITS = { maxMessageBytes: 1_000_000, maxBufferedBytes: 6000, replayTimeoutMs: 400, resyncIntervalMs: 2500 };
/** Longer than the longest backoff, a connection, a snapshot and a check together. */
const QUIET_MS = 45_000;

/** The index that all simulations use, one after the other. */
export interface SimulatedIndex {
  directory: KvDirectory;
  writer: KvIndexWriter;
}

/** What a simulation does differently, to see whether it is noticed. */
export interface Mutation {
  wrapSockets?: (sockets: StreamSockets) => StreamSockets;
  streamIndex?: typeof StreamIndex;
}

/** What was exercised, over all simulations. */
export interface Exercise extends CheckCounts {
  faults: Map<Fault, number>;
}

interface SimulatedStream {
  host: SimulatedHost;
  network: SimulatedNetwork;
  events: EventStream;
  index: StreamIndex;
}

export const KINDS: readonly RecoveryKind[] = ["snapshot", "replay", "none"];

/** How the streams of this seed's simulation recover. */
export function kindOf(seed: number): RecoveryKind {
  return KINDS[seed % KINDS.length];
}

/** Runs the simulation of this seed; throws PromiseBroken with the story and the command that tells it again. */
export function simulate(seed: number, index: SimulatedIndex, exercise: Exercise, mutation: Mutation = {}): void {
  const simulation = new Simulation(seed, index, exercise, mutation);
  try {
    simulation.run();
  } catch (error) {
    throw new PromiseBroken(`${error instanceof Error ? error.message : error}\n${simulation.story}`, { cause: error });
  } finally {
    simulation.close();
  }
}

class Simulation {
  readonly #seed: number;
  readonly #recovery: RecoveryKind;
  readonly #random: SeededRandom;
  readonly #clock = new FakeClock();
  readonly #trace = new Trace(this.#clock);
  readonly #faults: Faults;
  readonly #index: SimulatedIndex;
  readonly #exercise: Exercise;
  readonly #checker: Checker;
  readonly #streams = new Map<string, SimulatedStream>();
  #step = 0;

  constructor(seed: number, index: SimulatedIndex, exercise: Exercise, mutation: Mutation) {
    this.#seed = seed;
    this.#recovery = kindOf(seed);
    this.#random = new SeededRandom(seed);
    this.#index = index;
    this.#exercise = exercise;
    this.#faults = new Faults(this.#random, exercise.faults, (text) => this.#trace.add(text));
    const blockSize = this.#random.integerBetween(1, 3);
    const tree = new BlockTree(this.#random, this.#random.integerBetween(10, 32), blockSize);
    this.#checker = new Checker(index.directory, tree);
    const streams = this.#random.integerBetween(1, STREAMS_MAX);
    for (let id = 0; id < streams; id++) this.#addStream(id, tree, blockSize, mutation);
  }

  get story(): string {
    const command = `WARMPATH_SIM_SEED=${this.#seed} bun test test/sim/`;
    return `Seed ${this.#seed}, step ${this.#step}; again: ${command}\n${this.#trace}`;
  }

  run(): void {
    for (; this.#step < STEPS; this.#step++) {
      for (const [name, { host }] of this.#streams) this.#trace.of(name, () => host.act());
      this.#check();
      this.#clock.advance(this.#pauseMs());
      this.#letStreamsWork();
    }
    this.#faults.areEnabled = false;
    for (const [name, { host }] of this.#streams) this.#trace.of(name, () => host.comeToRest());
    this.#waitForRest();
    if (this.#recovery !== "snapshot") this.#sayMore(false);
    this.#checkRest();
    if (this.#recovery === "snapshot") return;
    this.#sayMore(true);
    this.#checkCoverage();
  }

  close(): void {
    [...this.#streams.values()].forEach(({ events, index }, id) => {
      events.close();
      index.close();
      this.#index.directory.removeStream(id);
    });
  }

  #addStream(id: number, tree: BlockTree, blockSize: number, mutation: Mutation): void {
    const description: StreamDescription = {
      instanceName: `engine-${id}`,
      dpRank: id,
      engine: this.#engine(),
      blockSize,
      hashSeed: this.#random.integerBelow(8) === 0 ? 7 : 1024,
      endpoint: `tcp://engine-${id}:1`,
      replayEndpoint: this.#recovery === "none" ? null : `tcp://engine-${id}:2`,
      topic: "",
      curveServerKey: null,
      incarnation: "",
    };
    const parts = {
      clock: this.#clock,
      random: this.#random,
      faults: this.#faults,
      recovery: this.#recovery,
      trace: (text: string) => this.#trace.add(text),
    };
    const isCounted = this.#recovery !== "snapshot";
    const bufferedMax = this.#random.integerBetween(3, 60);
    const host = new SimulatedHost({ tree, blockSize, rank: id, blocksMax: BLOCKS_MAX, isCounted, bufferedMax }, parts);
    const { writer } = this.#index;
    const index = new (mutation.streamIndex ?? StreamIndex)(id, description, writer, dialectOf(description.engine));
    index.open();
    this.#index.directory.addStream(id, description);
    const log = (_message: string, fields?: object) => this.#trace.add(`logs ${JSON.stringify(fields)}`);
    const events = new EventStream({
      stream: description,
      index,
      sockets: (mutation.wrapSockets ?? ((sockets) => sockets))(host.network),
      limits: LIMITS,
      clock: this.#clock,
      logger: { info: log, warn: log, error: log },
      random: () => this.#random.nextUint32() / 2 ** 32,
    });
    this.#streams.set(description.instanceName, { host, network: host.network, events, index });
  }

  #engine(): Engine {
    if (this.#recovery === "snapshot") return "xllm";
    return this.#random.integerBelow(2) === 0 ? "vllm" : "sglang";
  }

  /** A publisher that says no more hides a lost tail for ever, where there is no snapshot. */
  #sayMore(isClear: boolean): void {
    for (const [name, { host }] of this.#streams) this.#trace.of(name, () => host.sayMore(isClear));
    this.#waitForRest();
  }

  #pauseMs(): number {
    const choice = this.#random.integerBelow(20);
    if (choice < 14) return this.#random.integerBelow(40);
    return choice < 19 ? this.#random.integerBetween(100, 500) : this.#random.integerBetween(500, 3000);
  }

  #letStreamsWork(): void {
    for (const [name, stream] of this.#streams) {
      stream.network.tick();
      this.#trace.of(name, () => {
        if (!this.#faults.happens("stream not looked at")) this.#letWork(stream);
      });
    }
    this.#check();
  }

  /** As the ingest loop does it: what has arrived first, then the timers, then what has arrived again. */
  #letWork({ events }: SimulatedStream): void {
    while (events.pump());
    if (events.nextDeadlineMs > this.#clock.nowMs()) return;
    events.onTime();
    while (events.pump());
  }

  #waitForRest(): void {
    const endMs = this.#clock.nowMs() + QUIET_MS;
    while (this.#clock.nowMs() < endMs) {
      this.#step += 1;
      this.#letStreamsWork();
      const nextMs = [...this.#streams.values()].map(({ events, network }) => Math.min(events.nextDeadlineMs, network.nextAtMs));
      this.#clock.advance(Math.max(1, Math.min(...nextMs, endMs) - this.#clock.nowMs()));
    }
  }

  #check(): void {
    const checked = new Map<string, CheckedStream>();
    for (const [name, { events, network }] of this.#streams) {
      checked.set(name, { isLive: events.state.kind === "live", publisher: network.knownPublisher });
    }
    this.#checker.check(checked, this.#exercise);
  }

  #checkRest(): void {
    const checked = new Map<string, CheckedStream>();
    for (const [name, { events, host }] of this.#streams) {
      if (events.state.kind !== "live") throw new PromiseBroken(`${name} is ${events.state.kind} although all is quiet`);
      const { batchSeq } = events.state;
      const { publisher } = host;
      if (batchSeq !== publisher.watermark) {
        throw new PromiseBroken(`${name} is at batch ${batchSeq} although all is quiet, its publisher at ${publisher.watermark}`);
      }
      const present = { after: () => [publisher.holdings], knownInPart: () => publisher.knownInPart(batchSeq) };
      checked.set(name, { isLive: true, publisher: present });
    }
    this.#checker.check(checked, this.#exercise);
  }
  /** After a clear everything is known. */
  #checkCoverage(): void {
    this.#checkRest();
    const matches = this.#index.directory.match(0, null, null);
    if (matches === "busy") throw new PromiseBroken("the index is busy although nobody writes");
    for (const { stream, coverage } of matches) {
      if (coverage !== "full") throw new PromiseBroken(`${stream.instanceName} knows only part of its publisher after a clear`);
    }
  }
}
