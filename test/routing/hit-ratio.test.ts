import { describe, expect, test } from "bun:test";
import { unsynchronized } from "#domain";
import { kvHitRatio, measuredHits, measuredTokens } from "../../src/routing/hit-ratio.ts";
import { MatchGroups } from "../../src/routing/match-groups.ts";
import { instance, match } from "./scene.ts";

const WEIGHTS = { hostHitWeight: 0.5, diskHitWeight: 0.25 };

function tokens(deviceTokens: number, hostOnlyTokens: number, diskOnlyTokens: number, predictedTokens = 0) {
  return { deviceTokens, hostOnlyTokens, diskOnlyTokens, predictedTokens, uncredited: null };
}

describe("kvHitRatio", () => {
  test.each([
    ["counts device tokens whole", tokens(512, 0, 0), WEIGHTS, 0.5],
    ["counts host-only and disk-only tokens by their weights", tokens(256, 256, 256), WEIGHTS, 0.4375],
    ["counts predicted tokens as device tokens", tokens(256, 256, 0, 128), WEIGHTS, 0.5],
    ["ignores the slower tiers at weight 0", tokens(256, 512, 256), { hostHitWeight: 0, diskHitWeight: 0 }, 0.25],
    ["counts all tiers alike at weight 1", tokens(256, 512, 128), { hostHitWeight: 1, diskHitWeight: 1 }, 0.875],
    ["is 1 at most", tokens(2048, 0, 0), WEIGHTS, 1],
    ["is 0 of no hits", tokens(0, 0, 0), WEIGHTS, 0],
  ])("kvHitRatio %s", (_, hits, weights, expected) => {
    expect(kvHitRatio(hits, 1024, weights)).toBe(expected);
  });

  test("kvHitRatio is 0 of an empty prompt", () => {
    expect(kvHitRatio(tokens(128, 0, 0), 0, WEIGHTS)).toBe(0);
  });
});

describe("measuredHits", () => {
  const twoRanks = instance("a", "DEFAULT", { dpSize: 2 }).registration;

  test("measuredHits turns blocks of the stream's size into tokens", () => {
    const hits = measuredHits(instance("a").registration, [match("a", [3, 2, 1], { blockSize: 16 })], WEIGHTS);
    expect(hits).toEqual(tokens(48, 32, 16));
    expect(measuredTokens(hits)).toBe(96);
  });

  test("measuredHits takes the rank that holds least by weight, whichever order they come in", () => {
    // Rank 0: 2 + 0.5·2 = 3 blocks; rank 1: 0 + 0.5·5 = 2.5 blocks, although it holds more of them.
    const ranks = [match("a", [2, 2, 0]), match("a", [0, 5, 0], { dpRank: 1 })];
    expect(measuredHits(twoRanks, ranks, WEIGHTS)).toEqual(tokens(0, 640, 0));
    expect(measuredHits(twoRanks, ranks.toReversed(), WEIGHTS)).toEqual(tokens(0, 640, 0));
  });

  test("measuredHits never adds ranks up", () => {
    const ranks = [match("a", [4, 0, 0]), match("a", [4, 0, 0], { dpRank: 1 })];
    expect(measuredHits(twoRanks, ranks, WEIGHTS).deviceTokens).toBe(512);
  });

  test.each([
    ["no stream at all", [], { reason: "no-stream", dpRank: 0 }],
    ["a rank without a stream", [match("a", [4, 0, 0])], { reason: "no-stream", dpRank: 1 }],
    [
      "an unsynchronized rank",
      [match("a", [4, 0, 0]), match("a", [0, 0, 0], { dpRank: 1, unsynchronized: unsynchronized("gap", 4, 6) })],
      { reason: "unsynchronized", dpRank: 1 },
    ],
    [
      "a rank of another process",
      [match("a", [4, 0, 0], { incarnation: "a-0" }), match("a", [4, 0, 0], { dpRank: 1 })],
      { reason: "other-incarnation", dpRank: 0 },
    ],
    [
      "a rank listed twice in place of the other",
      [match("a", [4, 0, 0]), match("a", [4, 0, 0])],
      { reason: "no-stream", dpRank: 1 },
    ],
    [
      "a rank beyond the instance's size in place of another",
      [match("a", [4, 0, 0]), match("a", [4, 0, 0], { dpRank: 2 })],
      { reason: "no-stream", dpRank: 1 },
    ],
  ] as const)("measuredHits gives no credit for %s", (_, matches, uncredited) => {
    expect(measuredHits(twoRanks, matches, WEIGHTS)).toEqual({ ...tokens(0, 0, 0), uncredited });
  });

  test("measuredHits credits an instance and a stream that both tell no identity", () => {
    const { registration } = instance("a", "DEFAULT", { incarnation: "" });
    expect(measuredHits(registration, [match("a", [1, 0, 0], { incarnation: "" })], WEIGHTS).deviceTokens).toBe(128);
  });

  test("measuredHits gives a known process no credit for a stream without identity", () => {
    const { registration } = instance("a");
    expect(measuredHits(registration, [match("a", [1, 0, 0], { incarnation: "" })], WEIGHTS).uncredited?.reason).toBe(
      "other-incarnation",
    );
  });

  test("measuredHits takes the stream of the right process when another is still listed", () => {
    const matches = [match("a", [8, 0, 0], { incarnation: "a-0" }), match("a", [2, 0, 0])];
    expect(measuredHits(instance("a").registration, matches, WEIGHTS)).toEqual(tokens(256, 0, 0));
  });
});

describe("MatchGroups", () => {
  test("MatchGroups gives each instance its own matches of the last answer only", () => {
    const groups = new MatchGroups();
    groups.regroup([match("a", [1, 0, 0]), match("b", [2, 0, 0]), match("a", [3, 0, 0], { dpRank: 1 })]);
    expect(groups.of("a").map(({ deviceHitBlocks }) => deviceHitBlocks)).toEqual([1, 3]);
    groups.regroup([match("b", [4, 0, 0])]);
    expect(groups.of("a")).toEqual([]);
    expect(groups.of("b").map(({ deviceHitBlocks }) => deviceHitBlocks)).toEqual([4]);
    expect(groups.of("c")).toEqual([]);
  });

  test("MatchGroups stays right and bounded while names come and go without end", () => {
    const groups = new MatchGroups();
    for (let name = 0; name < 1000; name++) {
      groups.regroup([match(`instance-${name}`, [name, 0, 0])]);
      expect(groups.of(`instance-${name}`).map(({ deviceHitBlocks }) => deviceHitBlocks)).toEqual([name]);
      expect(groups.of(`instance-${name - 1}`)).toEqual([]);
      expect(groups.size).toBeLessThan(300);
    }
  });
});
