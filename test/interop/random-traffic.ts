/** Seeded traffic of one peer: a cache that changes with every step, and now and then a fault. */

import { SeededRandom } from "#sim";
import { stored } from "./cache-event.ts";
import { type PeerEngine, type ReplayMode, type SnapshotMode, TOPICS } from "./peer-engine.ts";
import { RandomChanges } from "./random-changes.ts";
import { liveFrames, payloadOf, storeOf } from "./wire-batch.ts";

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
  readonly #changes: RandomChanges;
  readonly #faults: readonly (() => Promise<void>)[];

  constructor(peer: PeerEngine, seed: number) {
    this.#peer = peer;
    this.#random = new SeededRandom(seed);
    this.#changes = new RandomChanges(peer, this.#random);
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
        await this.#peer.publish(this.#changes.next());
      }
      if (this.#random.integerBelow(WHOLE_STEPS) === 0) await this.#peer.answerRequests("whole");
      if (this.#random.integerBelow(2) === 0) await Bun.sleep(this.#random.integerBelow(PAUSE_MAX_MS));
    }
    await this.#peer.answerRequests("whole");
    await this.#peer.publish(this.#changes.stores(this.#changes.prompt(), "device"));
  }

  #faultsOfAll(): (() => Promise<void>)[] {
    const peer = this.#peer;
    return [
      () => peer.lose(this.#changes.next()),
      () => peer.vanish(this.#random.integerBetween(1, 3)),
      () => peer.repeat(this.#random.integerBetween(1, 3)),
      () => peer.raw(Uint8Array.of(0xc1)),
      () => peer.restart([]),
      () => peer.restart([stored(this.#changes.prompt())]),
      () => peer.disconnect(this.#random.integerBetween(DISCONNECT_MIN_MS, DISCONNECT_MAX_MS)),
    ];
  }

  /** With those of snapshots that are not as they should be while they are needed. */
  #snapshotFaults(): (() => Promise<void>)[] {
    const loseWith = async (mode: SnapshotMode) => {
      await this.#peer.snapshot(mode);
      await this.#peer.lose(this.#changes.next());
    };
    const old = () => liveFrames(TOPICS.xllm, 1, payloadOf([storeOf(this.#changes.prompt())]));
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
      for (let lost = this.#random.integerBetween(1, LOST_MAX); lost > 0; lost--) await this.#peer.lose(this.#changes.next());
    };
    return [
      ...this.#faultsOfAll(),
      () => loseWith("hole"),
      () => loseWith("cut"),
      () => loseWith("no-end"),
      () => loseWith("silent"),
    ];
  }

  #stepsToFault(): number {
    return this.#random.integerBetween(FAULT_STEPS_MIN, FAULT_STEPS_MAX);
  }
}
