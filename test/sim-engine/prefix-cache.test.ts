import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type EngineEvent, PrefixCache, type PrefixCacheOptions } from "#sim";
import { EventModel } from "./event-model.ts";

const OPTIONS: PrefixCacheOptions = {
  blockSize: 2,
  deviceBlocksMax: 4,
  hostBlocksMax: 3,
  chainSeed: 7n,
  offloadForm: "with-tokens",
};

type Operation = { kind: "admit" | "invalidate"; tokens: number[] } | { kind: "clear" };

// Two token values and two tokens a block: four blocks at each depth, so prompts share prefixes all the time.
const tokens = fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 13 });
const admit = tokens.map((prompt): Operation => ({ kind: "admit", tokens: prompt }));
const invalidate = tokens.map((prompt): Operation => ({ kind: "invalidate", tokens: prompt }));
const clear = fc.constant<Operation>({ kind: "clear" });
const anyOperation = fc.oneof(
  { weight: 20, arbitrary: admit },
  { weight: 4, arbitrary: invalidate },
  { weight: 1, arbitrary: clear },
);
const anyOptions: fc.Arbitrary<PrefixCacheOptions> = fc.record({
  blockSize: fc.constant(2),
  deviceBlocksMax: fc.integer({ min: 1, max: 8 }),
  hostBlocksMax: fc.integer({ min: 0, max: 6 }),
  chainSeed: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  offloadForm: fc.constantFrom("with-tokens", "without-tokens"),
});

function perform(cache: PrefixCache, operation: Operation): EngineEvent[] {
  switch (operation.kind) {
    case "admit":
      return cache.admit(Uint32Array.from(operation.tokens)).events;
    case "invalidate":
      return cache.invalidate(Uint32Array.from(operation.tokens));
    case "clear":
      return cache.clear();
  }
}

function modelOf(events: EngineEvent[]): EventModel {
  const model = new EventModel();
  for (const event of events) model.apply(event);
  return model;
}

describe("PrefixCache events", () => {
  test("PrefixCache events replayed into a plain model give the cache's state, within both capacities after every event", () => {
    fc.assert(
      fc.property(anyOptions, fc.array(admit, { maxLength: 40 }), (options, operations) => {
        const cache = new PrefixCache(options);
        const model = new EventModel();
        for (const operation of operations) {
          for (const event of perform(cache, operation)) {
            model.apply(event);
            expect(model.device.size).toBeLessThanOrEqual(options.deviceBlocksMax);
            expect(model.host.size).toBeLessThanOrEqual(options.hostBlocksMax);
          }
          expect(model.orphans()).toEqual([]);
          const snapshot = modelOf(cache.snapshot());
          expect(snapshot.device).toEqual(model.device);
          expect(snapshot.host).toEqual(model.host);
        }
      }),
    );
  });

  test("PrefixCache events stay applicable and complete while blocks are invalidated and everything is cleared", () => {
    fc.assert(
      fc.property(anyOptions, fc.array(anyOperation, { maxLength: 40 }), (options, operations) => {
        const cache = new PrefixCache(options);
        const model = new EventModel();
        for (const operation of operations) {
          for (const event of perform(cache, operation)) model.apply(event);
          expect(cache.deviceBlocks).toBe(model.device.size);
          expect(cache.hostBlocks).toBe(model.host.size);
          const listed = cache.snapshot().flatMap((event) => (event.kind === "stored" ? [`${event.tier} ${event.hashes}`] : []));
          const held = [...model.device.keys()].map((hash) => `device ${hash}`);
          held.push(...[...model.host.keys()].map((hash) => `host ${hash}`));
          expect(listed.toSorted()).toEqual(held.toSorted());
        }
      }),
    );
  });

  test("PrefixCache events are equal for equal seeds and calls, and name other hashes under another seed", () => {
    fc.assert(
      fc.property(anyOptions, fc.array(anyOperation, { maxLength: 20 }), (options, operations) => {
        const run = (chainSeed: bigint) => {
          const cache = new PrefixCache({ ...options, chainSeed });
          return operations.flatMap((operation) => perform(cache, operation));
        };
        const events = run(options.chainSeed);
        expect(run(options.chainSeed)).toEqual(events);
        if (events.some((event) => event.kind === "stored")) expect(run(options.chainSeed ^ 1n)).not.toEqual(events);
      }),
    );
  });
});

describe("PrefixCache admit", () => {
  test("PrefixCache admit announces the full blocks of a new prompt in one event from the root", () => {
    const { events, cachedTokens } = new PrefixCache(OPTIONS).admit(Uint32Array.of(1, 2, 3, 4, 5));
    expect(cachedTokens).toBe(0);
    expect(events).toEqual([
      {
        kind: "stored",
        tier: "device",
        hashes: [expect.any(BigInt), expect.any(BigInt)],
        parentHash: null,
        tokens: Uint32Array.of(1, 2, 3, 4),
        blockSize: 2,
      },
    ]);
  });

  test("PrefixCache admit announces only the blocks behind the cached prefix, under their parent", () => {
    const cache = new PrefixCache(OPTIONS);
    const [first] = cache.admit(Uint32Array.of(1, 2, 3, 4)).events;
    const { events, cachedTokens } = cache.admit(Uint32Array.of(1, 2, 3, 4, 5, 6));
    expect(cachedTokens).toBe(4);
    expect(events).toMatchObject([{ tier: "device", parentHash: hashesOf(first)[1], tokens: Uint32Array.of(5, 6) }]);
  });

  test("PrefixCache admit has nothing to announce for a prompt that the device holds whole", () => {
    const cache = new PrefixCache(OPTIONS);
    cache.admit(Uint32Array.of(1, 2, 3, 4));
    expect(cache.admit(Uint32Array.of(1, 2, 3, 4))).toEqual({ events: [], cachedTokens: 4 });
  });

  test("PrefixCache admit has nothing to announce for a prompt without a full block", () => {
    expect(new PrefixCache(OPTIONS).admit(Uint32Array.of(1))).toEqual({ events: [], cachedTokens: 0 });
  });

  test("PrefixCache admit keeps the first blocks of a prompt that is larger than the device", () => {
    const cache = new PrefixCache({ ...OPTIONS, deviceBlocksMax: 2 });
    cache.admit(Uint32Array.of(1, 2, 3, 4, 5, 6));
    expect(cache.holds(Uint32Array.of(1, 2, 3, 4, 5, 6))).toEqual([["device"], ["device"], []]);
  });

  test("PrefixCache admit offloads the oldest leaf before it leaves the device, then loads it back on a hit", () => {
    const cache = new PrefixCache(OPTIONS);
    const old = Uint32Array.of(1, 1, 2, 2);
    const [rootHash, leafHash] = hashesOf(cache.admit(old).events[0]);
    const { events } = cache.admit(Uint32Array.of(3, 3, 4, 4, 5, 5));
    expect(events).toMatchObject([
      { kind: "stored", tier: "host", hashes: [leafHash], parentHash: rootHash, tokens: Uint32Array.of(2, 2) },
      { kind: "removed", tier: "device", hashes: [leafHash] },
      { kind: "stored", tier: "device" },
    ]);
    expect(cache.holds(old)).toEqual([["device"], ["host"]]);

    const back = cache.admit(old);
    expect(back.cachedTokens).toBe(4);
    expect(back.events.at(-1)).toMatchObject({ kind: "stored", tier: "device", hashes: [leafHash], parentHash: rootHash });
    expect(cache.holds(old)).toEqual([["device"], ["device", "host"]]);
  });

  test("PrefixCache admit announces an offloaded block without tokens, parent or block size where the form says so", () => {
    const cache = new PrefixCache({ ...OPTIONS, deviceBlocksMax: 1, offloadForm: "without-tokens" });
    const hashes = hashesOf(cache.admit(Uint32Array.of(1, 1)).events[0]);
    const { events } = cache.admit(Uint32Array.of(2, 2));
    expect(events[0]).toEqual({
      kind: "stored",
      tier: "host",
      hashes,
      parentHash: null,
      tokens: new Uint32Array(0),
      blockSize: 0,
    });
  });

  test("PrefixCache admit makes room on a full host by removing what was used longest ago", () => {
    const cache = new PrefixCache({ ...OPTIONS, deviceBlocksMax: 1, hostBlocksMax: 1 });
    const hashes = hashesOf(cache.admit(Uint32Array.of(1, 1)).events[0]);
    cache.admit(Uint32Array.of(2, 2));
    expect(cache.admit(Uint32Array.of(3, 3)).events[0]).toEqual({ kind: "removed", tier: "host", hashes });
    expect(cache.holds(Uint32Array.of(1, 1))).toEqual([[]]);
    expect(cache.holds(Uint32Array.of(2, 2))).toEqual([["host"]]);
  });

  test("PrefixCache admit takes leaving the device as a use of the copy that the host has already", () => {
    const cache = new PrefixCache({ ...OPTIONS, deviceBlocksMax: 1 });
    for (const token of [1, 2, 3, 1, 2, 4, 5]) cache.admit(Uint32Array.of(token, token));
    expect(cache.holds(Uint32Array.of(1, 1))).toEqual([["host"]]);
    expect(cache.holds(Uint32Array.of(3, 3))).toEqual([[]]);
  });

  test("PrefixCache admit lets evicted blocks go when there is no host tier", () => {
    const cache = new PrefixCache({ ...OPTIONS, deviceBlocksMax: 1, hostBlocksMax: 0 });
    const hashes = hashesOf(cache.admit(Uint32Array.of(1, 1)).events[0]);
    expect(cache.admit(Uint32Array.of(2, 2)).events[0]).toEqual({ kind: "removed", tier: "device", hashes });
  });

  test("PrefixCache admit counts no cached tokens behind a missing block", () => {
    const cache = new PrefixCache(OPTIONS);
    const prompt = Uint32Array.of(1, 1, 2, 2, 3, 3);
    cache.admit(prompt);
    cache.invalidate(prompt.subarray(0, 4));
    expect(cache.admit(prompt).cachedTokens).toBe(2);
  });
});

describe("PrefixCache invalidate", () => {
  test("PrefixCache invalidate makes orphans that are dropped, not offloaded, when the device needs their room", () => {
    const cache = new PrefixCache({ ...OPTIONS, deviceBlocksMax: 2 });
    const [rootHash, leafHash] = hashesOf(cache.admit(Uint32Array.of(1, 1, 2, 2)).events[0]);
    expect(cache.invalidate(Uint32Array.of(1, 1))).toEqual([{ kind: "removed", tier: "device", hashes: [rootHash] }]);
    const { events } = cache.admit(Uint32Array.of(3, 3, 4, 4));
    expect(events.map((event) => `${event.kind} ${hashesOf(event).length}`)).toEqual(["removed 1", "stored 2"]);
    expect(events[0]).toEqual({ kind: "removed", tier: "device", hashes: [leafHash] });
  });

  test("PrefixCache invalidate removes one block from both tiers and leaves its descendants", () => {
    const cache = new PrefixCache({ ...OPTIONS, deviceBlocksMax: 2 });
    const prompt = Uint32Array.of(1, 1, 2, 2);
    const [rootHash] = hashesOf(cache.admit(prompt).events[0]) as [bigint];
    cache.admit(Uint32Array.of(3, 3, 4, 4));
    cache.admit(prompt);
    expect(cache.invalidate(prompt.subarray(0, 2))).toEqual([
      { kind: "removed", tier: "device", hashes: [rootHash] },
      { kind: "removed", tier: "host", hashes: [rootHash] },
    ]);
    expect(cache.holds(prompt)[0]).toEqual([]);
    expect(cache.holds(prompt)[1]).toContain("device");
  });

  test("PrefixCache invalidate has nothing to announce for a block that is not held or not full", () => {
    const cache = new PrefixCache(OPTIONS);
    expect(cache.invalidate(Uint32Array.of(1, 2))).toEqual([]);
    expect(cache.invalidate(Uint32Array.of(1))).toEqual([]);
  });
});

describe("PrefixCache options", () => {
  test.each([{ blockSize: 0 }, { deviceBlocksMax: 0 }, { hostBlocksMax: -1 }])("PrefixCache refuses %p", (wrong) => {
    expect(() => new PrefixCache({ ...OPTIONS, ...wrong })).toThrow("Invariant broken");
  });
});

function hashesOf(event: EngineEvent | undefined): bigint[] {
  return event === undefined || event.kind === "cleared" ? [] : event.hashes;
}
