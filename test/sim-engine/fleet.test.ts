import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { runEngines, SimulatedFleet } from "#sim";
import { EngineClient } from "./engine-client.ts";

let fleet: SimulatedFleet;

beforeEach(() => {
  fleet = new SimulatedFleet({ size: 4 });
});

afterEach(() => {
  fleet.close();
});

function stepMany(target: SimulatedFleet, count: number): void {
  for (let step = 0; step < count; step++) target.step();
}

describe("SimulatedFleet", () => {
  test("SimulatedFleet names its engines and gives them different caches", () => {
    stepMany(fleet, 60);
    expect(fleet.engines.map((engine) => engine.name)).toEqual([
      "engine-1:8000",
      "engine-2:8000",
      "engine-3:8000",
      "engine-4:8000",
    ]);
    const states = fleet.engines.map((engine) => engine.cache.snapshot());
    expect(states.every((state) => state.length > 0)).toBe(true);
    expect(states[0]).not.toEqual(states[1]);
  });

  test("SimulatedFleet repeats itself for the same options", () => {
    const twin = new SimulatedFleet({ size: 4 });
    stepMany(fleet, 40);
    stepMany(twin, 40);
    expect(twin.engines.map((engine) => engine.cache.snapshot())).toEqual(fleet.engines.map((engine) => engine.cache.snapshot()));
    twin.close();
  });

  test("SimulatedFleet offloads and evicts under its own traffic", () => {
    stepMany(fleet, 300);
    for (const { cache } of fleet.engines) expect([cache.deviceBlocks, cache.hostBlocks]).toEqual([192, 256]);
  });
});

describe("runEngines", () => {
  test("runEngines answers requests and works until it is stopped", async () => {
    const stop = new AbortController();
    let rounds = 0;
    const work = () => {
      rounds += 1;
      fleet.step();
    };
    const run = runEngines(fleet.engines, { intervalMs: 1, signal: stop.signal, work });
    const client = new EngineClient(fleet.engines[1]);
    expect((await client.snapshot()).dpRank).toBe(0);
    client.close();
    stop.abort();
    await run;
    expect(rounds).toBeGreaterThan(0);
  });

  test("runEngines does nothing when it is stopped already, and fails with the error of its work", async () => {
    const work = () => {
      throw new Error("out of prompts");
    };
    await runEngines(fleet.engines, { intervalMs: 1, signal: AbortSignal.abort(), work });
    const failing = runEngines(fleet.engines, { intervalMs: 1, signal: new AbortController().signal, work });
    await expect(failing).rejects.toThrow("out of prompts");
  });
});
