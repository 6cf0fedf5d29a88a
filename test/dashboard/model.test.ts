import { describe, expect, test } from "bun:test";
import type { DashboardMessage, DecisionEntry, DecisionSample } from "#http";
import { hitShare, Model, NOTHING } from "../../src/dashboard/model.ts";

const NOW_MS = 1_700_000_000_000;

const sample = (atMs: number, fields: Partial<DecisionSample> = {}): DecisionSample => ({ ...NOTHING, at_ms: atMs, ...fields });

const decision = (number: number, atMs = NOW_MS): DecisionEntry => ({
  number,
  at_ms: atMs,
  request_id: `request ${number}`,
  prompt_tokens: 1,
  policy: "CAR",
  prefill: "a:1",
  decode: null,
  refused: null,
  candidates: [],
  candidates_left_out: 0,
});

const message = (fields: Partial<DashboardMessage> = {}): DashboardMessage => ({
  at_ms: NOW_MS,
  policy: "CAR",
  max_blocks_per_stream: 1,
  unready: null,
  fleet: { instances: [], static_streams: [], refused: [] },
  samples: [],
  decisions: [],
  ...fields,
});

function modelOf(...messages: DashboardMessage[]): Model {
  const model = new Model();
  for (const each of messages) model.receive(each);
  return model;
}

describe("Model", () => {
  test("has decisions newest first, each once however often it is told", () => {
    const model = modelOf(message({ decisions: [decision(1), decision(2)] }), message({ decisions: [decision(2), decision(3)] }));
    expect(model.decisions.map(({ number }) => number)).toEqual([3, 2, 1]);
  });

  test("keeps a hundred decisions", () => {
    const model = new Model();
    for (let number = 1; number <= 150; number++) model.receive(message({ decisions: [decision(number)] }));
    expect(model.decisions.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, index) => 150 - index));
  });

  test("forgets the decisions of a process that was started anew, which counts from 1", () => {
    const model = modelOf(message({ decisions: [decision(7), decision(8)] }), message({ decisions: [decision(1, NOW_MS + 1)] }));
    expect(model.decisions.map(({ number }) => number)).toEqual([1]);
  });

  test("has each sample as it was told last, and none that is older than ten minutes", () => {
    const model = modelOf(
      message({ samples: [sample(NOW_MS - 600_001, { decisions: 9 }), sample(NOW_MS - 2000, { decisions: 1 })] }),
      message({ samples: [sample(NOW_MS - 2000, { decisions: 5 }), sample(NOW_MS, { decisions: 2 })] }),
    );
    expect(model.samples.map(({ decisions }) => decisions)).toEqual([5, 2]);
    expect(model.sumOver(1000).decisions).toBe(2);
    expect(model.sumOver(2000).decisions).toBe(7);
  });

  test("shows two minutes at least, and ten at most", () => {
    expect(modelOf(message()).historyMs).toBe(120_000);
    expect(modelOf(message({ samples: [sample(NOW_MS - 300_000)] })).historyMs).toBe(300_000);
    const model = modelOf(message({ samples: [sample(NOW_MS - 590_000)] }), message({ at_ms: NOW_MS + 60_000 }));
    expect(model.historyMs).toBeLessThanOrEqual(600_000);
  });

  test("keeps the fleet that it knows while the index is busy", () => {
    const known = message();
    expect(modelOf(known, message({ fleet: null })).fleet).toBe(known.fleet);
  });
});

test("hitShare counts all tiers, and is unknown where nothing was matched", () => {
  expect(
    hitShare(sample(0, { prompt_tokens: 100, device_hit_tokens: 40, host_only_hit_tokens: 20, disk_only_hit_tokens: 10 })),
  ).toBe(0.7);
  expect(hitShare(sample(0))).toBeNull();
});
