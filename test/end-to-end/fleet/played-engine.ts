/**
 * An engine that a test plays: the HTTP door with `/health`, and a simulated engine on real sockets for each rank. Its ports
 * follow the rule of offsets, so that a registration with nothing but its name leads to all of them.
 */

import { SimulatedEngine } from "#sim";
import { EngineDoor } from "../../support/engine-door.ts";
import { freePortRuns } from "../../support/free-ports.ts";

export const BLOCK_SIZE = 16;

/** Ranks that an engine has at most: so far apart are the two kinds of ports. */
const RANKS_MAX = 2;

/** The discovery's fields that fit these engines. Its interval is so long that a change which is not followed at once is missed. */
export const DISCOVERY = {
  enabled: true,
  block_size: BLOCK_SIZE,
  topic: "xllm-kv",
  event_port_offset: 1,
  replay_port_offset: 1 + RANKS_MAX,
  refresh_interval_ms: 60_000,
};

const BLOCKS_PER_PROMPT = 4;

/** Tokens of every prompt of `promptOf`. */
export const PROMPT_TOKENS = BLOCKS_PER_PROMPT * BLOCK_SIZE;

const SERVE_MS = 2;

/** Its door, and an event and a replay port for each rank. */
const PORTS = 1 + 2 * RANKS_MAX;

/** Prompts of different numbers share no block. */
export function promptOf(number: number): Uint32Array {
  return Uint32Array.from({ length: PROMPT_TOKENS }, (_, index) => number * 1000 + index);
}

export class PlayedEngine {
  readonly door: EngineDoor;
  readonly ranks: readonly SimulatedEngine[];
  readonly #serving: Timer;
  #isAlive = true;

  constructor(rankCount = 1) {
    const { event_port_offset: eventOffset, replay_port_offset: replayOffset, topic } = DISCOVERY;
    const [port] = freePortRuns(1, PORTS);
    this.door = new EngineDoor(port);
    this.ranks = Array.from({ length: rankCount }, (_, dpRank) => {
      return new SimulatedEngine({
        name: this.name,
        dpRank,
        topic,
        cache: {
          blockSize: BLOCK_SIZE,
          deviceBlocksMax: 256,
          hostBlocksMax: 0,
          chainSeed: BigInt(port * RANKS_MAX + dpRank),
          offloadForm: "with-tokens",
        },
        eventPort: port + eventOffset + dpRank,
        replayPort: port + replayOffset + dpRank,
      });
    });
    this.#serving = setInterval(() => this.#serve(), SERVE_MS);
  }

  /** The instance name, which is the address of its door. */
  get name(): string {
    return this.door.name;
  }

  get port(): number {
    return Number(this.name.split(":")[1]);
  }

  /** Computes the prompts of these numbers, and publishes that. */
  admit(...numbers: number[]): void {
    this.ranks[0].step(numbers.map(promptOf));
  }

  /** Another process on the same ports: nothing is cached. */
  restart(): void {
    for (const rank of this.ranks) rank.restart();
    this.#isAlive = true;
  }

  /** The sockets of events are gone, as when the engine's process dies; the door stays. */
  killRanks(): void {
    this.#isAlive = false;
    for (const rank of this.ranks) rank.close();
  }

  /** Nothing of the process is left. */
  async kill(): Promise<void> {
    this.killRanks();
    await this.door.close();
  }

  async stop(): Promise<void> {
    clearInterval(this.#serving);
    await this.kill();
  }

  #serve(): void {
    if (!this.#isAlive) return;
    for (const rank of this.ranks) rank.serve();
  }
}
