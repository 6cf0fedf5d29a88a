import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findEtcd } from "../../support/etcd-server.ts";
import { FleetSite } from "./fleet-site.ts";
import { type PlayedEngine, PROMPT_TOKENS, promptOf } from "./played-engine.ts";
import { keepsIndex, whileChecking } from "./while-checking.ts";

const TEST_TIMEOUT_MS = 40_000;
const ROUNDS = 8;

const binary = await findEtcd();

let site: FleetSite;

beforeAll(async () => {
  if (binary !== null) site = await FleetSite.startWithEtcd(binary);
});

afterAll(() => site?.stop());

/** One process after another under the same name; process `n` holds prompt `n` alone. */
class Successors {
  readonly engine: PlayedEngine;
  #number = 0;

  constructor(engine: PlayedEngine) {
    this.engine = engine;
  }

  get number(): number {
    return this.#number;
  }

  start(): void {
    this.#number += 1;
    if (this.#number > 1) this.engine.restart();
    this.engine.admit(this.#number);
  }

  async register(number: number): Promise<void> {
    await site.etcd.registrar.put("PREFILL", this.engine.name, { incarnation_id: `process-${number}` });
  }

  /** What is asked after Warmpath has shown a process must not credit blocks of the one before. */
  async check(): Promise<void> {
    const shown = Number((await site.instance(this.engine.name))?.incarnation_id.split("-")[1]);
    const tokens = await site.hitTokens(this.engine.name, promptOf(shown - 1));
    expect(tokens, `tokens of process ${shown - 1} that process ${shown} is credited with`).toBe(0);
  }
}

describe.skipIf(binary === null)("A process that takes another one's place", () => {
  test.concurrent(
    "is never credited with blocks of the one before, which is still connected when it registers",
    async () => {
      const successors = new Successors(site.engine());
      const { engine } = successors;
      successors.start();
      await successors.register(1);
      await site.seesSynchronized(engine.name);
      await whileChecking(
        () => successors.check(),
        async () => {
          for (let round = 0; round < ROUNDS; round++) {
            // The process before holds its sockets, and its blocks are in the index.
            expect(await site.hitTokens(engine.name, promptOf(successors.number))).toBe(PROMPT_TOKENS);
            engine.ranks[0].fault = "silent";
            const next = successors.number + 1;
            await successors.register(next);
            await site.sees("is shown as its successor", engine.name, (instance) => {
              return instance?.incarnation_id === `process-${next}`;
            });
            expect(await site.hitTokens(engine.name, promptOf(next - 1))).toBe(0);
            successors.start();
            await site.seesSynchronized(engine.name);
          }
        },
      );
      expect(await site.hitTokens(engine.name, promptOf(ROUNDS + 1))).toBe(PROMPT_TOKENS);
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "is never credited with blocks of the one before when it registers after it has opened its sockets",
    async () => {
      const successors = new Successors(site.engine());
      const { engine } = successors;
      successors.start();
      await successors.register(1);
      await site.seesSynchronized(engine.name);
      for (let round = 0; round < ROUNDS; round++) {
        successors.start();
        await successors.register(successors.number);
        await whileChecking(
          () => successors.check(),
          () =>
            site.sees("is synchronized as its successor", engine.name, (instance) => {
              return instance?.incarnation_id === `process-${successors.number}` && instance.streams[0]?.synchronized === true;
            }),
        );
        expect(await site.hitTokens(engine.name, promptOf(successors.number))).toBe(PROMPT_TOKENS);
      }
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "stays when the key of the one before is deleted, which lies under another role",
    async () => {
      const engine = site.engine();
      engine.admit(1);
      const { registrar } = site.etcd;
      await registrar.put("PREFILL", engine.name, { incarnation_id: "before" });
      await site.seesSynchronized(engine.name);
      await registrar.put("DEFAULT", engine.name, { incarnation_id: "after" });
      await site.sees("is the one after", engine.name, (instance) => instance?.incarnation_id === "after");
      await site.seesSynchronized(engine.name);
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        await registrar.delete("PREFILL", engine.name);
        await site.caughtUp();
      });
      expect(await site.instance(engine.name)).toMatchObject({ state: "ACTIVE", role: "DEFAULT", incarnation_id: "after" });
    },
    TEST_TIMEOUT_MS,
  );

  test.concurrent(
    "stays when the lease of the one before runs out, under the same key and under another",
    async () => {
      const engine = site.engine();
      engine.admit(1);
      const { registrar } = site.etcd;
      const sameKey = await registrar.putLeased("PREFILL", engine.name, { incarnation_id: "first" }, 1);
      const otherKey = await registrar.putLeased("DEFAULT", engine.name, { incarnation_id: "second" }, 1);
      await registrar.putLeased("PREFILL", engine.name, { incarnation_id: "third" }, 2);
      await site.sees("is the third", engine.name, (instance) => instance?.incarnation_id === "third");
      await site.seesSynchronized(engine.name);
      await whileChecking(keepsIndex(site, engine.name, 1), async () => {
        await sameKey.revoke();
        await otherKey.revoke();
        await site.caughtUp();
      });
      expect(await site.instance(engine.name)).toMatchObject({ state: "ACTIVE", role: "PREFILL", incarnation_id: "third" });
    },
    TEST_TIMEOUT_MS,
  );
});
