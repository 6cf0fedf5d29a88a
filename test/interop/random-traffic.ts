/**
 * Seeded traffic of one peer: a cache that fills, offloads and evicts along the prompts, and now and then a fault. Blocks are
 * evicted with their descendants, since a snapshot leaves orphans out while deltas keep them. Where copies count, each block has
 * one on a tier at most, since the peer's own state does not count them.
 */

import type { Tier } from "#domain";
import { SeededRandom } from "#sim";
import { type Block, chain } from "./blocks.ts";
import { type CacheEvent, CLEARED, offloaded, removed, stored } from "./cache-event.ts";
import { type PeerEngine, type ReplayMode, type SnapshotMode, TOPICS } from "./peer-engine.ts";
import { liveFrames, payloadOf, storeOf } from "./wire-batch.ts";

/** Nine prompts: three trunks of six blocks with three leaves of six blocks each. */
export const TRAFFIC_PROMPTS: readonly (readonly Block[])[] = [0, 1, 2].flatMap((trunkNumber) => {
  const trunk = chain(`trunk ${trunkNumber}`, 6);
  return [0, 1, 2].map((leaf) => [...trunk, ...chain(`leaf ${leaf}`, 6, trunk[5])]);
});

/** Batches between two faults: one to three seconds, mostly enough for a stream to recover and settle, sometimes not. */
const FAULT_STEPS_MIN = 100;
const FAULT_STEPS_MAX = 500;

/** Batches, on average, until snapshots are whole again. */
const WHOLE_STEPS = 50;

/** Batches lost in a row, that a replay has to bring. */
const LOST_MAX = 5;

/** Longest pause between two batches; half of them have none. */
const PAUSE_MAX_MS = 15;

const DISCONNECT_MIN_MS = 20;
const DISCONNECT_MAX_MS = 400;

export class RandomTraffic {
  readonly #peer: PeerEngine;
  readonly #random: SeededRandom;
  readonly #faults: readonly (() => Promise<void>)[];

  constructor(peer: PeerEngine, seed: number) {
    this.#peer = peer;
    this.#random = new SeededRandom(seed);
    this.#faults = peer.engine === "xllm" ? this.#snapshotFaults() : this.#replayFaults();
  }

  /** Publishes for as long as this takes, then one last batch in order. */
  async run(durationMs: number): Promise<void> {
    const endMs = performance.now() + durationMs;
    let stepsToFault = this.#stepsToFault();
    while (performance.now() < endMs) {
      if (stepsToFault-- === 0) {
        await this.#faults[this.#random.integerBelow(this.#faults.length)]();
        stepsToFault = this.#stepsToFault();
      } else {
        await this.#peer.publish(this.#change());
      }
      if (this.#random.integerBelow(WHOLE_STEPS) === 0) await this.#peer.answerRequests("whole");
      if (this.#random.integerBelow(2) === 0) await Bun.sleep(this.#random.integerBelow(PAUSE_MAX_MS));
    }
    await this.#peer.answerRequests("whole");
    await this.#peer.publish(this.#stores(this.#prompt(), "device"));
  }

  #faultsOfAll(): (() => Promise<void>)[] {
    const peer = this.#peer;
    return [
      () => peer.lose(this.#change()),
      () => peer.vanish(this.#random.integerBetween(1, 3)),
      () => peer.repeat(this.#random.integerBetween(1, 3)),
      () => peer.raw(Uint8Array.of(0xc1)),
      () => peer.restart([]),
      () => peer.restart([stored(this.#prompt())]),
      () => peer.disconnect(this.#random.integerBetween(DISCONNECT_MIN_MS, DISCONNECT_MAX_MS)),
    ];
  }

  /** With those of snapshots that are not as they should be while they are needed. */
  #snapshotFaults(): (() => Promise<void>)[] {
    const loseWith = async (mode: SnapshotMode) => {
      await this.#peer.snapshot(mode);
      await this.#peer.lose(this.#change());
    };
    const old = () => liveFrames(TOPICS.xllm, 1, payloadOf([storeOf(this.#prompt())]));
    return [
      ...this.#faultsOfAll(),
      () => this.#peer.frames(old()),
      () => loseWith("late"),
      () => loseWith("garbage"),
      () => loseWith("silent"),
    ];
  }

  /** The same of replays. Another batch under an old number is no fault of theirs: nothing tells it from that of a new process. */
  #replayFaults(): (() => Promise<void>)[] {
    const loseWith = async (mode: ReplayMode) => {
      await this.#peer.replay(mode);
      for (let lost = this.#random.integerBetween(1, LOST_MAX); lost > 0; lost--) await this.#peer.lose(this.#change());
    };
    return [
      ...this.#faultsOfAll(),
      () => loseWith("hole"),
      () => loseWith("cut"),
      () => loseWith("no-end"),
      () => loseWith("silent"),
    ];
  }

  /** What one engine step may do to the cache; sometimes nothing that changes it. */
  #change(): CacheEvent[] {
    const { cache } = this.#peer;
    const prompt = this.#prompt();
    const tier: Tier = this.#random.integerBelow(4) === 0 ? "host" : "device";
    const dice = this.#random.integerBelow(24);
    if (dice === 0) return [CLEARED];
    if (dice === 1) return [CLEARED, stored(prompt), offloaded(prompt.slice(0, this.#length()))];
    if (dice < 5) return [offloaded(prompt.filter((block) => cache.isOn("device", block) && !cache.isOn("host", block)))];
    if (dice < 8) {
      const onBoth = prompt.filter((block) => cache.isOn("device", block) && cache.isOn("host", block));
      return [removed(onBoth, tier)];
    }
    if (dice < 12) return this.#evict(prompt[this.#random.integerBelow(prompt.length)]);
    return this.#stores(prompt.slice(0, this.#length()), tier);
  }

  /** Stores these blocks; where copies count, those that the tier does not hold. */
  #stores(blocks: readonly Block[], tier: Tier): CacheEvent[] {
    const { cache, engine } = this.#peer;
    if (engine === "xllm") return [stored(blocks, tier)];
    return blocks.flatMap((block) => (cache.isOn(tier, block) ? [] : [stored([block], tier)]));
  }

  /** Takes a block and its descendants from both tiers, the last ones first. */
  #evict({ hash }: Block): CacheEvent[] {
    const subtree = TRAFFIC_PROMPTS.flatMap((prompt) => {
      const from = prompt.findIndex((block) => block.hash === hash);
      return from < 0 ? [] : prompt.slice(from).reverse();
    });
    return [removed(subtree), removed(subtree, "host")];
  }

  #prompt(): readonly Block[] {
    return TRAFFIC_PROMPTS[this.#random.integerBelow(TRAFFIC_PROMPTS.length)];
  }

  #length(): number {
    return this.#random.integerBetween(1, 12);
  }

  #stepsToFault(): number {
    return this.#random.integerBetween(FAULT_STEPS_MIN, FAULT_STEPS_MAX);
  }
}
