/**
 * One rank of an engine that is played by a test, on real sockets: it holds chosen parts of the prompt of this suite, and goes on
 * telling so until it is closed.
 */

import { encode } from "@msgpack/msgpack";
import type { Engine, Tier } from "#domain";
import { SimulatedEngine } from "#sim";
import { EngineSockets } from "../../../src/sim/engine-sockets.ts";

export const BLOCK_SIZE = 16;
const PROMPT_BLOCKS = 10;
export const TOPIC = "route-test";

const ANY_PORT = "tcp://127.0.0.1:0";

/** Blocks of the prompt, from its front: those on the device, then those on the host alone, then those on disk alone. */
export interface Holding {
  device?: number;
  host?: number;
  disk?: number;
  /** Under this cache salt, and nothing without it. */
  salt?: string;
}

export interface PlayedRank {
  readonly engine: Engine;
  readonly endpoint: string;
  /** Null: there is nothing to ask. */
  readonly replayEndpoint: string | null;
  /** Blocks that Warmpath knows of once it has heard everything. */
  readonly deviceBlocks: number;
  /** To be called again and again. */
  serve(): void;
  close(): void;
}

/** The first `count` tokens of the prompt, beyond its full blocks too. */
export function promptTokens(count = PROMPT_BLOCKS * BLOCK_SIZE): number[] {
  return Array.from({ length: count }, (_, index) => 1000 + index);
}

/** An engine that can hold it: xLLM's caches know neither disk nor, as they are simulated here, salts. */
export function playRank(holding: Holding, dpRank: number, blockSize: number): PlayedRank {
  const isXllm = holding.disk === undefined && holding.salt === undefined;
  return isXllm ? new CachingRank(holding, dpRank, blockSize) : new AnnouncingRank(holding, blockSize);
}

/** A simulated xLLM engine, brought there by what it computes: its cache offloads the least recent blocks to the host. */
export class CachingRank implements PlayedRank {
  readonly engine = "xllm";
  readonly simulated: SimulatedEngine;

  constructor({ device = 0, host = 0 }: Holding, dpRank: number, blockSize: number) {
    this.simulated = new SimulatedEngine({
      name: "played",
      dpRank,
      topic: TOPIC,
      cache: {
        blockSize,
        deviceBlocksMax: Math.max(device + host, 1),
        hostBlocksMax: host,
        chainSeed: BigInt(1 + dpRank),
        offloadForm: "without-tokens",
      },
    });
    if (device + host === 0) return;
    this.simulated.step([Uint32Array.from(promptTokens((device + host) * blockSize))]);
    // As many blocks of another prompt push the last ones of the first off the device.
    if (host > 0) this.simulated.step([Uint32Array.from({ length: host * blockSize }, (_, index) => index)]);
  }

  get endpoint(): string {
    return this.simulated.stream.endpoint;
  }

  get replayEndpoint(): string {
    return this.simulated.stream.replayEndpoint;
  }

  get deviceBlocks(): number {
    return this.simulated.cache.deviceBlocks;
  }

  serve(): void {
    this.simulated.serve();
  }

  close(): void {
    this.simulated.close();
  }
}

const MEDIA: Readonly<Record<Tier, string>> = { device: "GPU", host: "CPU", disk: "DISK" };

/** A vLLM rank without replay, which says all that it holds in every batch. */
class AnnouncingRank implements PlayedRank {
  readonly engine = "vllm";
  readonly replayEndpoint = null;
  readonly deviceBlocks: number;
  readonly #sockets = new EngineSockets({ event: ANY_PORT, replay: ANY_PORT }, TOPIC, null);
  readonly #payload: Uint8Array;
  #batchSeq = 0;

  constructor(holding: Holding, blockSize: number) {
    this.deviceBlocks = holding.device ?? 0;
    this.#payload = encode([0, [{ type: "AllBlocksCleared" }, ...storedEvents(holding, blockSize)], 0]);
  }

  get endpoint(): string {
    return this.#sockets.endpoints.event;
  }

  serve(): void {
    this.#sockets.publish(this.#batchSeq++, this.#payload);
  }

  close(): void {
    this.#sockets.close();
  }
}

/** An event for each block, since each has its tier. */
function storedEvents({ device = 0, host = 0, disk = 0, salt }: Holding, blockSize: number): object[] {
  const tiers: Tier[] = [
    ...Array<Tier>(device).fill("device"),
    ...Array<Tier>(host).fill("host"),
    ...Array<Tier>(disk).fill("disk"),
  ];
  const tokens = promptTokens(tiers.length * blockSize);
  return tiers.map((tier, block) => ({
    type: "BlockStored",
    block_hashes: [block + 1],
    parent_block_hash: block === 0 ? null : block,
    token_ids: tokens.slice(block * blockSize, (block + 1) * blockSize),
    block_size: blockSize,
    lora_id: null,
    medium: MEDIA[tier],
    extra_keys: [block === 0 && salt !== undefined ? [salt] : null],
  }));
}
