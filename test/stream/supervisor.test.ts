import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { SeededRandom } from "#sim";
import type { Breakage } from "./faulty.thread.ts";
import { IngestScene } from "./ingest-scene.ts";

const ALL_HITS = { "engine-1": 1, "engine-2": 2 };

let scene: IngestScene;

beforeEach(async () => {
  scene = await IngestScene.start();
});

afterEach(async () => {
  await scene.stop();
});

describe("IngestSupervisor", () => {
  test("IngestSupervisor is not ready before its thread has every stream, and then answers what the engines hold", async () => {
    expect(scene.supervisor.notReady()).toEqual(["the ingest thread is starting"]);
    await scene.untilHits(ALL_HITS);
    scene.grow(scene.engines[0], 4);
    await scene.untilHits({ ...ALL_HITS, "engine-1": 4 });
  });

  test("IngestSupervisor takes a stream out and another in under the same id, and never mixes the two", async () => {
    await scene.untilHits(ALL_HITS);
    scene.supervisor.removeStream(1);
    expect(scene.hits).toEqual({ "engine-1": 1 });
    expect(scene.supervisor.addStream(scene.engines[2].stream)).toBe(1);
    const answers: unknown[] = [];
    await scene.until("the third engine's hits", () => {
      if (scene.supervisor.notReady() === null) answers.push(scene.hits["engine-3"]);
      return scene.hits["engine-3"] === 3 && scene.supervisor.notReady() === null;
    });
    expect(new Set(answers)).not.toContain(2);
  });

  test("IngestSupervisor answers a stream that is added later as not connected, and stays ready", async () => {
    await scene.untilHits(ALL_HITS);
    await scene.break("stall");
    scene.supervisor.addStream(scene.engines[2].stream);
    expect(scene.supervisor.notReady()).toBeNull();
    expect(scene.reasons).toEqual({ "engine-1": null, "engine-2": null, "engine-3": "not-connected" });
    await scene.untilHits({ ...ALL_HITS, "engine-3": 3 });
  });

  test("IngestSupervisor takes as many streams as the limit allows, and none more", () => {
    const ids = Array.from({ length: 3 }, (_, n) =>
      scene.supervisor.addStream({ ...scene.engines[2].stream, instanceName: `e-${n}` }),
    );
    expect(ids).toEqual([2, 3, null]);
  });
});

describe("IngestSupervisor and ids that are used again", () => {
  const OTHER_BLOCKS = 7;

  beforeEach(async () => {
    scene.grow(scene.engines[0], 10);
    scene.turnAway(scene.engines[2], OTHER_BLOCKS);
    await scene.untilHits({ ...ALL_HITS, "engine-1": 10 });
  });

  /** Looks at every answer until the third engine, in the first one's place, is synchronized. */
  async function expectNothingOfTheFirst(): Promise<void> {
    await scene.watch("the third engine", (matches) => {
      if (matches.length === 0) return false; // the index was busy
      expect(matches.map(({ stream }) => stream.instanceName)).toEqual(["engine-2", "engine-3"]);
      const [, { unsynchronized, deviceHitBlocks, deviceBlocks }] = matches;
      expect({ deviceHitBlocks, deviceBlocks }).toEqual({
        deviceHitBlocks: 0,
        deviceBlocks: unsynchronized === null ? OTHER_BLOCKS : 0,
      });
      return unsynchronized === null;
    });
  }

  test("IngestSupervisor answers nothing of the stream that had the id, however long the thread takes", async () => {
    await scene.break("stall");
    scene.supervisor.removeStream(0);
    expect(scene.supervisor.addStream(scene.engines[2].stream)).toBe(0);
    await expectNothingOfTheFirst();
  });

  test("IngestSupervisor answers nothing of the stream that had the id while the thread follows at once", async () => {
    scene.supervisor.removeStream(0);
    expect(scene.supervisor.addStream(scene.engines[2].stream)).toBe(0);
    await expectNothingOfTheFirst();
  });

  test("IngestSupervisor adds, removes and adds under one id before the thread has seen any of it", async () => {
    await scene.break("stall");
    scene.supervisor.removeStream(0);
    expect(scene.supervisor.addStream(scene.engines[0].stream)).toBe(0);
    scene.supervisor.removeStream(0);
    expect(scene.supervisor.addStream(scene.engines[2].stream)).toBe(0);
    await expectNothingOfTheFirst();
  });

  test("IngestSupervisor does not take the report of an earlier addition for that of a later one", async () => {
    scene.supervisor.removeStream(0);
    scene.supervisor.addStream(scene.engines[0].stream);
    scene.serveAlone(300); // the thread has it, synchronized, and its report waits to be read
    scene.stall();
    scene.supervisor.removeStream(0);
    expect(scene.supervisor.addStream(scene.engines[2].stream)).toBe(0);
    await expectNothingOfTheFirst();
  });

  test("IngestSupervisor forgets a stream that is removed before the thread has it", async () => {
    await scene.break("stall");
    const id = scene.supervisor.addStream(scene.engines[2].stream);
    expect(id).toBe(2);
    scene.supervisor.removeStream(2);
    expect(scene.reasons).toEqual({ "engine-1": null, "engine-2": null });
    scene.grow(scene.engines[1], 4);
    await scene.untilHits({ "engine-1": 10, "engine-2": 4 }); // the thread has gone on, and reported
    expect(Object.keys(scene.reasons)).toEqual(["engine-1", "engine-2"]);
  });
});

describe("IngestSupervisor with streams that come and go", () => {
  const SEED = Number(process.env.WARMPATH_TEST_SEED ?? Date.now() & 0x7fffffff);
  const CHANGES = 500;
  /** Between two changes: nothing, so that both are of one tick; some looks; or until those that can be are synchronized. */
  const PAUSES = ["none", "looks", "synchronized"] as const;
  const LOOKS_MAX = 2000;
  /** A machine may stop the writer within a step for longer than readers wait, but not often. */
  const BUSY_MAX = 10;

  const openFiles = () => readdirSync("/proc/self/fd").length;

  test("IngestSupervisor lets the other streams answer unchanged, and ends with what it began with", async () => {
    console.info(`Seed ${SEED}; again: WARMPATH_TEST_SEED=${SEED} bun test test/stream/supervisor.test.ts`);
    await scene.untilHits(ALL_HITS);
    const random = new SeededRandom(SEED);
    const { supervisor, matches: before } = scene;
    const bytesBefore = supervisor.directory.bytesInUse;
    const filesBefore = openFiles(); // or one more: the sockets of a recovery are closed a little later
    const [first, second, third] = scene.engines.map(({ stream }) => ({
      ...stream,
      instanceName: `other ${stream.instanceName}`,
    }));
    const nobody = { ...third, instanceName: "other nobody", endpoint: "tcp://127.0.0.1:1", replayEndpoint: "tcp://127.0.0.1:2" };
    const reachable = new Set([first, second, third].map(({ instanceName }) => instanceName));
    const choices = [first, second, third, { ...third, blockSize: 8, instanceName: "other size" }, nobody];

    const added: number[] = [];
    let busy = 0;
    for (let change = 0; change < CHANGES; change++) {
      if (added.length === 0 || (added.length < 2 && random.integerBelow(2) === 0)) {
        const id = supervisor.addStream(choices[random.integerBelow(choices.length)]);
        if (id === null) throw new Error("An id is free");
        added.push(id);
      } else {
        const [id] = added.splice(random.integerBelow(added.length), 1);
        supervisor.removeStream(id);
      }
      expect(supervisor.notReady()).toBeNull();
      const pause = PAUSES[random.integerBelow(PAUSES.length)];
      if (pause === "none") continue;
      let looks = random.integerBelow(LOOKS_MAX);
      await scene.watch("the next change", (matches) => {
        if (matches.length === 0) {
          busy += 1;
          return false;
        }
        expect(matches.slice(0, 2)).toEqual(before);
        expect(matches).toHaveLength(2 + added.length);
        const pending = matches.filter(
          ({ stream, unsynchronized }) => unsynchronized !== null && reachable.has(stream.instanceName),
        );
        looks -= 1;
        return pause === "looks" ? looks < 0 : pending.length === 0;
      });
    }

    for (const id of added) supervisor.removeStream(id);
    await scene.until("the index without them", () => supervisor.directory.bytesInUse === bytesBefore);
    await scene.until("their sockets closed", () => openFiles() <= filesBefore);
    expect(busy).toBeLessThan(BUSY_MAX);
    expect(scene.matches).toEqual(before);
    expect([supervisor.addStream(third), supervisor.addStream(first), supervisor.addStream(second)]).toEqual([2, 3, null]);
    expect(scene.errors).toEqual([]);
  }, 60_000);
});

describe("IngestSupervisor after a crash", () => {
  const CRASHES: [breakage: Breakage, reason: string][] = [
    ["throw", "thrown by the test"],
    ["break-index", "index broken by the test"],
  ];

  test.each(CRASHES)("IngestSupervisor says so at once and starts again with the same streams: %s", async (breakage, reason) => {
    await scene.untilHits(ALL_HITS);
    await scene.break(breakage);
    scene.engines[0].publishFullState(); // a batch for the broken index
    await scene.until("the crash", () => scene.supervisor.notReady() !== null);
    expect(scene.supervisor.notReady()?.join()).toContain(reason);
    expect(scene.errors[0].reason).toContain(reason);
    scene.grow(scene.engines[1], 5);
    await scene.until("the second engine's growth", () => scene.supervisor.notReady() === null && scene.hits["engine-2"] === 5);
    expect(scene.errors).toHaveLength(1);
    expect(scene.supervisor.crashes).toBe(1);
  });

  test("IngestSupervisor answers nothing from the dead thread's index once it knows of the crash", async () => {
    await scene.untilHits(ALL_HITS);
    await scene.break("throw");
    await scene.until("the crash", () => scene.supervisor.notReady() !== null);
    expect(scene.hits).toEqual({});
  });

  test("IngestSupervisor starts with the streams that there are then, those included that the thread never had", async () => {
    await scene.untilHits(ALL_HITS);
    await scene.break("throw");
    await scene.until("the crash", () => scene.supervisor.notReady() !== null);
    scene.supervisor.removeStream(0);
    expect(scene.supervisor.addStream(scene.engines[2].stream)).toBe(0);
    expect(scene.reasons).toEqual({ "engine-2": "ingest-stopped", "engine-3": "ingest-stopped" });
    await scene.untilHits({ "engine-2": 2, "engine-3": 3 });
  });

  test("IngestSupervisor starts with a stream whose addition the thread took with it", async () => {
    await scene.untilHits(ALL_HITS);
    await scene.break("stall");
    const broken = scene.break("throw");
    scene.supervisor.addStream(scene.engines[2].stream);
    await broken;
    await scene.until("the crash", () => scene.supervisor.notReady() !== null);
    await scene.untilHits({ ...ALL_HITS, "engine-3": 3 });
  });

  test(
    "IngestSupervisor notices a thread that hangs, and starts another",
    async () => {
      await scene.untilHits(ALL_HITS);
      await scene.break("hang");
      await scene.until("the hang", () => scene.supervisor.notReady() !== null, 14_000);
      expect(scene.errors[0].reason).toContain("has not finished a turn");
      await scene.untilHits(ALL_HITS);
    },
    { timeout: 30_000 },
  );
});

describe("IngestSupervisor stop", () => {
  const LIMIT_MS = 2000;

  test("IngestSupervisor stops while its streams are synchronized", async () => {
    await scene.untilHits(ALL_HITS);
    expect(await scene.stop()).toBeLessThan(LIMIT_MS);
  });

  test("IngestSupervisor stops while an engine is gone", async () => {
    await scene.untilHits(ALL_HITS);
    scene.lose(scene.engines[0]);
    await scene.untilHits({ "engine-2": 2 });
    expect(await scene.stop()).toBeLessThan(LIMIT_MS);
  });

  test("IngestSupervisor stops while a snapshot is on its way", async () => {
    await scene.stop();
    scene = await IngestScene.start({ silent: ["engine-2"] });
    await scene.untilHits({ "engine-1": 1 });
    expect(await scene.stop()).toBeLessThan(LIMIT_MS);
  });

  test("IngestSupervisor stops before its thread has started", async () => {
    expect(await scene.stop()).toBeLessThan(LIMIT_MS);
  });

  test("IngestSupervisor stops while its thread is about to be started again", async () => {
    await scene.untilHits(ALL_HITS);
    await scene.break("throw");
    await scene.until("the crash", () => scene.supervisor.notReady() !== null);
    expect(await scene.stop()).toBeLessThan(LIMIT_MS);
    expect(scene.supervisor.notReady()).not.toBeNull();
  });
});
