import { describe, expect, test } from "bun:test";
import type { CacheChange } from "./engine-cache.ts";
import { contextTokens, DEVICE_BLOCKS, loadMs, prefillMs, RUNNING_REQUESTS_MAX, stepMs, workMs } from "./engine-model.ts";
import { SimulatedEngine } from "./simulated-engine.ts";
import { BLOCK_TOKENS, type TracedRequest } from "./trace.ts";
import { VirtualTime } from "./virtual-time.ts";

interface FirstToken {
  id: number;
  atMs: number;
  cachedTokens: number;
}

/** Sends each request to one engine at its arrival. */
function run(requests: readonly TracedRequest[]) {
  const time = new VirtualTime();
  const firstTokens: FirstToken[] = [];
  const changes: CacheChange[] = [];
  const engine = new SimulatedEngine(time, {
    cacheChanged: (told) => changes.push(...told),
    firstToken: ({ id }, cachedTokens) => firstTokens.push({ id, atMs: time.nowMs, cachedTokens }),
  });
  for (const request of requests) time.at(request.arrivalMs, () => engine.submit(request));
  const plan = (atMs: number, look: (engine: SimulatedEngine) => void) => time.at(atMs, () => look(engine));
  return { time, engine, firstTokens, changes, plan };
}

function request(id: number, blocks: number[], changes: Partial<TracedRequest> = {}): TracedRequest {
  return { id, arrivalMs: 0, inputTokens: blocks.length * BLOCK_TOKENS + 1, outputTokens: 1, blocks, hashIds: [], ...changes };
}

describe("SimulatedEngine", () => {
  test("Prompts are computed one after the other, in the order of their arrival", () => {
    const { time, engine, firstTokens } = run([request(0, [1, 2]), request(1, [3]), request(2, [])]);
    time.runAll();
    const first = prefillMs(2 * BLOCK_TOKENS + 1, 0);
    const second = first + prefillMs(BLOCK_TOKENS + 1, 0);
    expect(firstTokens).toEqual([
      { id: 0, atMs: first, cachedTokens: 0 },
      { id: 1, atMs: second, cachedTokens: 0 },
      { id: 2, atMs: second + prefillMs(1, 0), cachedTokens: 0 },
    ]);
    expect(engine.prefillBusyMs).toBeCloseTo(second + prefillMs(1, 0), 9);
  });

  test("What an earlier prompt left on the device is not computed again", () => {
    const { time, firstTokens, changes } = run([request(0, [1, 2]), request(1, [1, 2, 3])]);
    time.runAll();
    const [first, second] = firstTokens;
    expect(second.cachedTokens).toBe(2 * BLOCK_TOKENS);
    expect(second.atMs - first.atMs).toBeCloseTo(prefillMs(3 * BLOCK_TOKENS + 1, 2 * BLOCK_TOKENS), 9);
    expect(changes.map(({ blocks }) => blocks)).toEqual([[1, 2], [3]]);
  });

  test("Blocks that come from the host cost the time of their copy", () => {
    const other = Array.from({ length: DEVICE_BLOCKS - 1 }, (_, place) => 100 + place);
    const { time, firstTokens } = run([request(0, [1, 2]), request(1, other), request(2, [1, 2])]);
    time.runAll();
    const [, second, third] = firstTokens;
    expect(third.cachedTokens).toBe(2 * BLOCK_TOKENS);
    const computeMs = prefillMs(2 * BLOCK_TOKENS + 1, 2 * BLOCK_TOKENS);
    expect(third.atMs - second.atMs).toBeCloseTo(loadMs(2) + computeMs, 6);
  });

  test("Decoding takes a step for each further token, rests during a prefill, and holds the memory to its end", () => {
    const decoding = request(0, [1], { outputTokens: 11 });
    const step = stepMs(contextTokens(decoding));
    const prefilled = prefillMs(decoding.inputTokens, 0);
    const pause = prefillMs(1, 0);
    const { time, plan } = run([decoding, request(1, [], { arrivalMs: prefilled + 4.5 * step })]);
    const usages: number[] = [];
    const endMs = prefilled + 10 * step + pause;
    for (const atMs of [endMs - 0.01, endMs + 0.01]) plan(atMs, ({ load }) => usages.push(load.cacheUsage));
    time.runAll();
    expect(usages).toEqual([2 / DEVICE_BLOCKS, 0]);
  });

  test("A request waits while as many run as may, and its load says so", () => {
    const requests = Array.from({ length: RUNNING_REQUESTS_MAX + 1 }, (_, id) =>
      request(id, [], { inputTokens: 1, outputTokens: 1000 }),
    );
    const { time, firstTokens, plan } = run(requests);
    const waiting: number[] = [];
    const prefilledMs = RUNNING_REQUESTS_MAX * prefillMs(1, 0);
    for (const atMs of [prefilledMs / 2, prefilledMs + 1]) plan(atMs, ({ load }) => waiting.push(load.waitingRequests));
    time.runAll();
    expect(waiting[0]).toBeGreaterThan(60);
    expect(waiting[1]).toBe(1);
    expect(firstTokens).toHaveLength(RUNNING_REQUESTS_MAX + 1);
    expect(firstTokens.at(-1)?.atMs).toBeGreaterThan(prefilledMs + 900 * stepMs(0));
  });
});

describe("The engine model", () => {
  test("Costs are those of the hardware: seconds for long prompts, tens of milliseconds for a step, less with a cache", () => {
    // 12,000 tokens: 1,346 ms of matrix products, 151 ms of attention, 10 ms of overhead.
    expect(prefillMs(12_000, 0)).toBeCloseTo(1507.4, 1);
    expect(prefillMs(12_000, 11_776)).toBeCloseTo(10 + 25.1 + 5.6, 1);
    expect(stepMs(0)).toBeCloseTo(14.6, 1);
    expect(stepMs(16 * 12_000)).toBeCloseTo(21.1, 1);
    expect(DEVICE_BLOCKS * BLOCK_TOKENS).toBeGreaterThan(1_300_000);
  });

  test("A request's work is its prefill and its share of decode steps of a typical batch", () => {
    const work = workMs(request(0, [], { inputTokens: 12_000, outputTokens: 101 }));
    expect(work).toBeCloseTo(1507.4 + (100 * stepMs(16 * 12_050.5)) / 16, 1);
  });
});
