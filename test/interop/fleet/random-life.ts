/**
 * Seeded lives of one member: it publishes, sometimes changes its role, is killed, and comes back in one of the ways in which
 * engines do. Each process holds other blocks than the one before it.
 */

import type { Role } from "#domain";
import { SeededRandom } from "#sim";
import type { Block } from "../blocks.ts";
import type { PeerEngine } from "../peer-engine.ts";
import { RandomChanges, TRAFFIC_PROMPTS } from "../random-changes.ts";
import type { FleetMember } from "./fleet-member.ts";

/** Leaves of one trunk; a process holds these, its successor those of the next trunk. */
const PROMPTS_OF_PROCESS = 3;

/** Mostly enough to be synchronized and have something, sometimes not. */
const LIFE_MIN_MS = 300;
const LIFE_MAX_MS = 4000;

const PUBLISH_PAUSE_MAX_MS = 40;

/** Shorter and longer than a lease, and than the grace of a process. */
const DEATH_MAX_MS = 2500;

/** Between being registered and listening, in either order: mostly long enough to see what Warmpath makes of the one alone. */
const DELAY_MAX_MS = 1200;

/** One in so many lives changes its role, until another process is registered. */
const ROLE_LIVES = 4;
const ROLES: readonly Role[] = ["DEFAULT", "PREFILL", "DECODE"];

/** How it comes back; silently only where it is registered still. */
const RETURNS = ["registers first", "listens first", "is taken for the same", "silently"] as const;

export class RandomLife {
  readonly #member: FleetMember;
  readonly #random: SeededRandom;
  #untilMs = 0;

  constructor(member: FleetMember, seed: number) {
    this.#member = member;
    this.#random = new SeededRandom(seed);
  }

  /** The prompts whose blocks the member's process at hand may hold. */
  static promptsOf({ processes }: FleetMember): readonly (readonly Block[])[] {
    const first = (processes * PROMPTS_OF_PROCESS) % TRAFFIC_PROMPTS.length;
    return TRAFFIC_PROMPTS.slice(first, first + PROMPTS_OF_PROCESS);
  }

  /** Lives until then, on `performance.now()`; it is alive at the end, and quiet. */
  async run(untilMs: number): Promise<void> {
    this.#untilMs = untilMs;
    for (;;) {
      const traffic = Promise.all(this.#member.peers.map((peer) => this.#publish(peer)));
      await Promise.all([this.#pause(LIFE_MIN_MS, LIFE_MAX_MS), this.#perhapsChangeRole()]);
      if (performance.now() >= untilMs) return void (await traffic);
      if (this.#random.integerBelow(2) === 0) this.#member.forget();
      await this.#member.kill();
      await traffic;
      await this.#pause(0, DEATH_MAX_MS);
      await this.#return();
    }
  }

  async #publish(peer: PeerEngine): Promise<void> {
    const changes = new RandomChanges(peer, this.#random, RandomLife.promptsOf(this.#member));
    const isAlive = () => this.#member.peers.includes(peer);
    while (isAlive() && performance.now() < this.#untilMs) {
      await peer.publish(changes.next()).catch((error) => {
        if (isAlive()) throw error;
      });
      await this.#pause(0, PUBLISH_PAUSE_MAX_MS);
    }
  }

  async #perhapsChangeRole(): Promise<void> {
    if (!this.#member.isRegistered || this.#random.integerBelow(ROLE_LIVES) > 0) return;
    await this.#pause(0, LIFE_MAX_MS / 2);
    await this.#member.register("the same", ROLES[this.#random.integerBelow(ROLES.length)]);
  }

  async #return(): Promise<void> {
    const member = this.#member;
    const ways = member.isRegistered ? RETURNS.length : RETURNS.length - 1;
    switch (RETURNS[this.#random.integerBelow(ways)]) {
      case "registers first":
        await member.register("another", "DEFAULT");
        await this.#pause(0, DELAY_MAX_MS);
        return member.start();
      case "listens first":
        await member.start();
        await this.#pause(0, DELAY_MAX_MS);
        return member.register("another", "DEFAULT");
      case "is taken for the same":
        await member.start();
        await this.#pause(0, DELAY_MAX_MS);
        return member.register("the same");
      case "silently":
        return member.start();
    }
  }

  #pause(minMs: number, maxMs: number): Promise<void> {
    return Bun.sleep(this.#random.integerBetween(minMs, maxMs));
  }
}
