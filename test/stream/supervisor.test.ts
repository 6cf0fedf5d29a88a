import { afterEach, beforeEach, describe, expect, test } from "bun:test";
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

  test("IngestSupervisor takes as many streams as the limit allows, and none more", () => {
    const ids = Array.from({ length: 3 }, (_, n) =>
      scene.supervisor.addStream({ ...scene.engines[2].stream, instanceName: `e-${n}` }),
    );
    expect(ids).toEqual([2, 3, null]);
  });
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
  });

  test("IngestSupervisor answers nothing from the dead thread's index once it knows of the crash", async () => {
    await scene.untilHits(ALL_HITS);
    await scene.break("throw");
    await scene.until("the crash", () => scene.supervisor.notReady() !== null);
    expect(scene.hits).toEqual({});
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
