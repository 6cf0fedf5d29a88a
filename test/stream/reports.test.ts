/** What crosses from the ingest thread when someone asks how the streams have fared. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { IngestScene } from "./ingest-scene.ts";

let scene: IngestScene;

beforeEach(async () => {
  scene = await IngestScene.start();
});

afterEach(async () => {
  await scene.stop();
});

const reportOf = async (name: string) => (await scene.supervisor.reports()).find(({ stream }) => stream.instanceName === name);

test("IngestSupervisor reports what each stream has gone through", async () => {
  await scene.untilHits({ "engine-1": 1, "engine-2": 2 });
  const before = await reportOf("engine-1");
  expect(before).toMatchObject({ recoveries: [{ kind: "snapshot", outcome: "completed", count: 1 }], lagMs: null });
  expect(before?.problems["snapshot-awaited"]).toBe(1);
  expect(before?.events.stored).toBeGreaterThan(0);
  expect(before?.unsynchronizedMs).toBeGreaterThan(0);

  scene.grow(scene.engines[0], 3);
  await scene.untilHits({ "engine-1": 3, "engine-2": 2 });
  const after = await reportOf("engine-1");
  expect(after?.batches).toBeGreaterThan(before?.batches ?? 0);
  expect(after?.events.stored).toBeGreaterThan(before?.events.stored ?? 0);
  expect(after?.unsynchronizedMs).toBe(before?.unsynchronizedMs);
});

test("IngestSupervisor reports nothing of a stream that was removed", async () => {
  await scene.untilHits({ "engine-1": 1, "engine-2": 2 });
  scene.supervisor.removeStream(0);
  const reports = await scene.supervisor.reports();
  expect(reports.map(({ stream }) => stream.instanceName)).toEqual(["engine-2"]);
});
