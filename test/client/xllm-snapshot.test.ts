import { describe, expect, test } from "bun:test";
import { type DeliveredBatch, KvEventClient } from "#client";
import { runEngines, SimulatedFleet } from "#sim";

describe("KvEventClient and xLLM", () => {
  test("KvEventClient begins with the engine's snapshot and goes on with the batches after it", async () => {
    const fleet = new SimulatedFleet({ size: 1 });
    for (let step = 0; step < 20; step++) fleet.step();
    const stopping = new AbortController();
    const running = runEngines(fleet.engines, { intervalMs: 2, signal: stopping.signal });
    const { endpoint, replayEndpoint, topic } = fleet.engines[0].stream;
    const batches: DeliveredBatch[] = [];
    const heard = Promise.withResolvers<void>();
    const client = new KvEventClient({
      ...{ endpoint, replayEndpoint, topic, engine: "xllm" },
      onEvents(batch) {
        batches.push(batch);
        if (batches.length >= 5) heard.resolve();
        else fleet.step();
      },
    });
    await client.start();
    await heard.promise;
    await client.close();
    stopping.abort();
    await running;
    fleet.close();
    const [snapshot, ...live] = batches;
    expect(snapshot.source).toBe("snapshot");
    expect(snapshot.events.length).toBeGreaterThan(0);
    expect(live.map(({ source }) => source)).toEqual(["live", "live", "live", "live"]);
    expect(live.map(({ batchSeq }) => batchSeq)).toEqual([1, 2, 3, 4].map((after) => snapshot.batchSeq + after));
  });
});
