import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type ChatTrafficOptions, chatTraffic, type PrefixCacheOptions, SimulatedEngine } from "#sim";
import { EngineClient, engineEvent, readNumber } from "./engine-client.ts";
import { EventModel } from "./event-model.ts";

const CACHE: PrefixCacheOptions = {
  blockSize: 2,
  deviceBlocksMax: 24,
  hostBlocksMax: 12,
  chainSeed: 1n,
  offloadForm: "without-tokens",
};
const TRAFFIC: ChatTrafficOptions = {
  seed: 5,
  systemPrompts: 2,
  systemPromptTokens: 6,
  conversations: 4,
  turnTokensMin: 1,
  turnTokensMax: 6,
  promptTokensMax: 40,
};
const PROMPT = Uint32Array.of(1, 2, 70_000, 4);
const OTHER_PROMPT = Uint32Array.of(5, 6);
const ROOM_FOR_START = new Uint8Array(8);
const EMPTY = new Uint8Array(0);

let engine: SimulatedEngine;
let client: EngineClient;

beforeEach(() => {
  engine = new SimulatedEngine({ name: "engine-1:8000", cache: CACHE, dpRank: 3 });
  client = new EngineClient(engine);
});

afterEach(() => {
  client.close();
  engine.close();
});

function batchSeqOf(frame: Uint8Array): number {
  return Number(readNumber(frame));
}

describe("SimulatedEngine live", () => {
  test("SimulatedEngine publishes a step as topic, batch sequence and one batch of its rank", async () => {
    await client.subscribe();
    const report = engine.step([PROMPT]);
    const [topic, batchSeq] = await client.nextFrames();
    expect(new TextDecoder().decode(topic)).toBe("xllm-kv");
    expect(batchSeqOf(batchSeq)).toBe(engine.batchSeq);
    expect(report).toEqual({ batchSeq: engine.batchSeq, cachedTokens: 0 });

    expect(engine.step([PROMPT, OTHER_PROMPT])).toEqual({ batchSeq: engine.batchSeq, cachedTokens: 4 });
    const batch = await client.nextBatch();
    expect(batch).toMatchObject({
      dpRank: 3,
      events: [{ type: "BlockStored", parent_block_hash: null, token_ids: [5, 6], block_size: 2, medium: "gpu" }],
    });
    expect(batch.timestamp).toBeNumber();
  });

  test("SimulatedEngine numbers batches from 1 and none for a step that changes nothing", () => {
    expect(engine.batchSeq).toBe(0);
    expect(engine.step([PROMPT]).batchSeq).toBe(1);
    expect(engine.step([PROMPT])).toEqual({ batchSeq: null, cachedTokens: 4 });
    expect(engine.step([])).toEqual({ batchSeq: null, cachedTokens: 0 });
    expect(engine.step([OTHER_PROMPT]).batchSeq).toBe(2);
  });

  test("SimulatedEngine announces over its sockets exactly the state that its cache has, offloads and evictions included", async () => {
    await client.subscribe();
    const model = new EventModel();
    for (const prompt of chatTraffic(TRAFFIC).take(60)) {
      if (engine.step([prompt]).batchSeq === null) continue;
      const { batchSeq, events } = await client.nextBatch();
      expect(Number(batchSeq)).toBe(engine.batchSeq);
      for (const event of events) model.apply(engineEvent(event));
    }
    const snapshot = new EventModel();
    for (const event of (await client.snapshot()).events) snapshot.apply(engineEvent(event));
    expect(model.device.size).toBe(24);
    expect(model.host.size).toBe(12);
    expect(snapshot.device).toEqual(model.device);
    expect(snapshot.host).toEqual(model.host);
  });

  test("SimulatedEngine publishes invalidation, clearing and its full state as batches", async () => {
    await client.subscribe();
    engine.step([PROMPT]);
    await client.nextFrames();
    engine.invalidate(PROMPT);
    expect((await client.nextBatch()).events).toMatchObject([{ type: "BlockRemoved", medium: "gpu" }]);
    engine.publishFullState();
    expect((await client.nextBatch()).events).toMatchObject([{ type: "AllBlocksCleared" }, { token_ids: [1, 2] }]);
    engine.clear();
    expect((await client.nextBatch()).events).toEqual([{ type: "AllBlocksCleared" }]);
    expect(engine.invalidate(PROMPT)).toBeNull();
  });
});

describe("SimulatedEngine snapshots", () => {
  test("SimulatedEngine answers a request with watermark and state, then the end", async () => {
    engine.step([PROMPT]);
    engine.step([OTHER_PROMPT]);
    client.requestSnapshot();
    const [delimiter, watermark, payload, ...rest] = await client.nextReply();
    expect([delimiter.length, batchSeqOf(watermark), rest.length]).toEqual([0, 2, 0]);
    expect(payload.length).toBeGreaterThan(0);
    expect(await client.nextReply()).toEqual([EMPTY, new Uint8Array(8).fill(0xff), EMPTY]);
  });

  test("SimulatedEngine answers watermark 0 and no events while it has published nothing", async () => {
    expect(await client.snapshot()).toMatchObject({ batchSeq: 0n, events: [], dpRank: 3 });
  });

  test("SimulatedEngine lists parents first in its snapshot and every block once per tier", async () => {
    engine.step([PROMPT]);
    const { events } = await client.snapshot();
    expect(events).toMatchObject([
      { parent_block_hash: null, token_ids: [1, 2], medium: "gpu" },
      { parent_block_hash: (events[0] as { block_hashes: bigint[] }).block_hashes[0], token_ids: [70_000, 4], medium: "gpu" },
    ]);
  });

  test.each([
    ["without delimiter", [ROOM_FOR_START]],
    ["with a start of 7 bytes", [EMPTY, new Uint8Array(7)]],
    ["with a frame too many", [EMPTY, ROOM_FOR_START, EMPTY]],
    ["with bytes in its delimiter", [ROOM_FOR_START, ROOM_FOR_START]],
  ])("SimulatedEngine counts a request %s, and answers the next one", async (_, frames) => {
    client.request(frames);
    expect(await client.snapshot()).toMatchObject({ batchSeq: 0n });
    expect(engine.malformedRequests).toBe(1);
    expect(client.replyNow()).toBeNull();
  });

  test("SimulatedEngine answers a bounded number of requests in one call and the rest in the next ones", async () => {
    engine.fault = "silent";
    for (let count = 0; count < 40; count++) client.requestSnapshot();
    for (let turn = 0; turn < 10; turn++) expect(client.replyNow()).toBeNull();
    engine.fault = "none";
    let answered = 0;
    while (answered < 40) {
      const served = engine.serve();
      expect(served).toBeLessThanOrEqual(16);
      answered += served;
      await Bun.sleep(0);
    }
    for (let reply = 0; reply < 80; reply++) await client.nextReply();
    expect(client.replyNow()).toBeNull();
  });
});

describe("SimulatedEngine faults", () => {
  test("SimulatedEngine loses exactly the next batch, and shows it as a gap", async () => {
    await client.subscribe();
    engine.fault = "lose-next-batch";
    const lost = engine.step([PROMPT]).batchSeq;
    const heard = engine.step([OTHER_PROMPT]).batchSeq;
    expect(lost).toBeNumber();
    expect(heard).toBe(Number(lost) + 1);
    expect(batchSeqOf((await client.nextFrames())[1])).toBe(Number(heard));
  });

  test("SimulatedEngine gone silent moves on unheard, and answers waiting requests once it speaks again", async () => {
    await client.subscribe();
    engine.fault = "silent";
    engine.step([PROMPT]);
    client.requestSnapshot();
    for (let turn = 0; turn < 10; turn++) {
      expect(engine.serve()).toBe(0);
      expect(client.replyNow()).toBeNull();
    }
    engine.fault = "none";
    const [, watermark] = await client.nextReply();
    expect(batchSeqOf(watermark)).toBe(engine.batchSeq);
    const heard = engine.step([OTHER_PROMPT]).batchSeq;
    expect(batchSeqOf((await client.nextFrames())[1])).toBe(Number(heard));
  });

  test("SimulatedEngine restarted is an empty process on the same ports with batches from 1 and other hashes", async () => {
    engine.step([PROMPT]);
    const [before] = engine.cache.snapshot();
    const streamBefore = engine.stream;
    engine.restart();
    expect(engine.stream).toEqual(streamBefore);
    expect(engine.batchSeq).toBe(0);
    expect(engine.step([PROMPT])).toEqual({ batchSeq: 1, cachedTokens: 0 });
    expect(engine.cache.snapshot()[0]).not.toEqual(before);
  });

  test("SimulatedEngine restarted is heard by those who were subscribed before, and answers new clients", async () => {
    await client.subscribe();
    engine.restart();
    await client.subscribe();
    const successor = new EngineClient(engine);
    expect(await successor.snapshot()).toMatchObject({ batchSeq: BigInt(engine.batchSeq) });
    successor.close();
  });

  test("SimulatedEngine restarts after it was closed", async () => {
    engine.close();
    engine.close();
    engine.restart();
    await client.subscribe();
  });
});

describe("SimulatedEngine ports", () => {
  test("SimulatedEngine refuses a taken port and frees what it had bound", () => {
    const { port: replayPort } = new URL(engine.stream.replayEndpoint);
    const first = new SimulatedEngine({ name: "engine-2:8000", cache: CACHE });
    const eventPort = Number(new URL(first.stream.endpoint).port);
    first.close();
    const options = { name: "engine-3:8000", cache: CACHE, eventPort };
    expect(() => new SimulatedEngine({ ...options, replayPort: Number(replayPort) })).toThrow("EADDRINUSE");
    const third = new SimulatedEngine(options);
    expect(third.stream.endpoint).toBe(`tcp://127.0.0.1:${eventPort}`);
    third.close();
  });

  test("SimulatedEngine says how to subscribe to it", () => {
    expect(engine.stream).toEqual({
      instanceName: "engine-1:8000",
      dpRank: 3,
      engine: "xllm",
      blockSize: 2,
      hashSeed: 1024,
      endpoint: expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/),
      replayEndpoint: expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/),
      topic: "xllm-kv",
      curveServerKey: null,
      incarnation: "",
    });
  });

  test("SimulatedEngine that is closed refuses to step and to serve", () => {
    engine.close();
    expect(() => engine.step([PROMPT])).toThrow("is used before it is closed");
    expect(() => engine.serve()).toThrow("is used before it is closed");
  });
});
