/** One rank of an engine that comes and goes: xLLM's with snapshots, or vLLM's with a replay buffer. */

import { type SeededRandom, SimulatedEngine } from "#sim";
import type { KvCacheEvent } from "#wire";
import { EnginePublisher } from "../client/engine-publisher.ts";

export const BLOCK_SIZE = 16;
export const TOPIC = "xllm-kv";

/** Ranks that an engine has at most: so far apart are the two kinds of ports, which follow the port of its door. */
export const RANKS_MAX = 3;
export const EVENT_PORT_OFFSET = 1;
export const REPLAY_PORT_OFFSET = EVENT_PORT_OFFSET + RANKS_MAX;

/** Its door, and an event and a replay port for each rank. */
export const PORTS_PER_ENGINE = 1 + 2 * RANKS_MAX;

const DEVICE_BLOCKS = 512;
const HOST_BLOCKS = 256;

/** Few, so that a replay often does not reach back. */
const REPLAY_BATCHES = 32;

const BLOCKS_PER_EVENT_MAX = 32;

/** Prompts that a vLLM rank holds before it forgets the oldest. */
const PROMPTS_HELD = 16;

export const RANK_TROUBLES = ["lost-batch", "silent", "cleared", "full-state"] as const;

type RankTrouble = (typeof RANK_TROUBLES)[number];

export interface Rank {
  /** Computes the prompt, and publishes that. */
  step(prompt: Uint32Array): void;
  /** Answers whoever asks for a snapshot. */
  serve(): void;
  trouble(trouble: RankTrouble): void;
  /** Ends the trouble that lasts. */
  recover(): void;
  /** Ends as a killed process does. */
  close(): void;
}

export interface RankPlace {
  engine: "xllm" | "vllm";
  dpRank: number;
  eventPort: number;
  replayPort: number;
  random: SeededRandom;
}

/** Throws ZmqError when a port is taken. */
export function openRank(place: RankPlace): Rank {
  return place.engine === "xllm" ? new SnapshotRank(place) : new ReplayRank(place);
}

class SnapshotRank implements Rank {
  readonly #engine: SimulatedEngine;

  constructor({ dpRank, eventPort, replayPort, random }: RankPlace) {
    this.#engine = new SimulatedEngine({
      name: `127.0.0.1:${eventPort}`,
      dpRank,
      topic: TOPIC,
      cache: {
        blockSize: BLOCK_SIZE,
        deviceBlocksMax: DEVICE_BLOCKS,
        hostBlocksMax: HOST_BLOCKS,
        chainSeed: BigInt(random.nextUint32()) << 32n,
        offloadForm: "without-tokens",
      },
      eventPort,
      replayPort,
    });
  }

  step(prompt: Uint32Array): void {
    this.#engine.step([prompt]);
  }

  serve(): void {
    this.#engine.serve();
  }

  trouble(trouble: RankTrouble): void {
    switch (trouble) {
      case "lost-batch":
        this.#engine.fault = "lose-next-batch";
        break;
      case "silent":
        this.#engine.fault = "silent";
        break;
      case "cleared":
        this.#engine.clear();
        break;
      case "full-state":
        this.#engine.publishFullState();
        break;
    }
  }

  recover(): void {
    this.#engine.fault = "none";
  }

  close(): void {
    this.#engine.close();
  }
}

class ReplayRank implements Rank {
  readonly #publisher: EnginePublisher;
  readonly #held: bigint[][] = [];
  #nextHash: bigint;
  #isLosing = false;

  constructor({ eventPort, replayPort, random }: RankPlace) {
    this.#nextHash = BigInt(random.nextUint32()) << 24n;
    this.#publisher = new EnginePublisher({
      endpoint: `tcp://127.0.0.1:${eventPort}`,
      replayEndpoint: `tcp://127.0.0.1:${replayPort}`,
      topic: TOPIC,
      bufferBatches: REPLAY_BATCHES,
    });
  }

  step(prompt: Uint32Array): void {
    const events = [this.#store(prompt)];
    const forgotten = this.#held.length > PROMPTS_HELD ? this.#held.shift() : undefined;
    if (forgotten !== undefined) events.push({ type: "BlockRemoved", blockHashes: forgotten, medium: "GPU" });
    this.#publish(events);
  }

  /** The publisher looks at requests by itself. */
  serve(): void {}

  trouble(trouble: RankTrouble): void {
    if (trouble === "lost-batch" || trouble === "silent") this.#isLosing = true;
    else this.#clear();
  }

  recover(): void {
    this.#isLosing = false;
  }

  close(): void {
    this.#publisher.close();
  }

  #clear(): void {
    this.#held.length = 0;
    this.#publish([{ type: "AllBlocksCleared" }]);
  }

  #publish(events: readonly KvCacheEvent[]): void {
    this.#publisher.publish(events, { isLost: this.#isLosing });
  }

  #store(prompt: Uint32Array): KvCacheEvent {
    const blockCount = Math.min(Math.floor(prompt.length / BLOCK_SIZE), BLOCKS_PER_EVENT_MAX);
    const blockHashes = Array.from({ length: blockCount }, () => this.#nextHash++);
    this.#held.push(blockHashes);
    return {
      type: "BlockStored",
      blockHashes,
      parentBlockHash: null,
      tokenIds: Array.from(prompt.subarray(0, blockCount * BLOCK_SIZE)),
      blockSize: BLOCK_SIZE,
      medium: "GPU",
    };
  }
}
