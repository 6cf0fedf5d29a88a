import { describe, expect, test } from "bun:test";
import { type ChatTrafficOptions, chatTraffic, SeededRandom, SMALL_SITE, VOCABULARY_SIZE } from "#sim";

const OPTIONS: ChatTrafficOptions = {
  seed: 3,
  systemPrompts: 2,
  systemPromptTokens: 8,
  conversations: 5,
  turnTokensMin: 2,
  turnTokensMax: 6,
  promptTokensMax: 40,
};

function firstPrompts(options: ChatTrafficOptions, count: number): Uint32Array[] {
  return chatTraffic(options).take(count).toArray();
}

function isPrefixOf(prefix: Uint32Array, prompt: Uint32Array): boolean {
  return prefix.length <= prompt.length && prefix.every((token, index) => token === prompt[index]);
}

describe("chatTraffic", () => {
  test("chatTraffic repeats itself for the same seed and differs for another", () => {
    expect(firstPrompts(OPTIONS, 50)).toEqual(firstPrompts(OPTIONS, 50));
    expect(firstPrompts(OPTIONS, 50)).not.toEqual(firstPrompts({ ...OPTIONS, seed: 4 }, 50));
  });

  test("chatTraffic opens every prompt with one of the system prompts", () => {
    const openings = new Set(firstPrompts(OPTIONS, 200).map((prompt) => prompt.subarray(0, 8).join()));
    expect(openings.size).toBe(2);
  });

  test("chatTraffic lets every prompt but the first of a conversation extend an earlier one by a turn", () => {
    const prompts = firstPrompts(OPTIONS, 200);
    for (const [index, prompt] of prompts.entries()) {
      const extended = prompts.slice(0, index).filter((earlier) => isPrefixOf(earlier, prompt));
      const longest = Math.max(8, ...extended.map((earlier) => earlier.length));
      expect(prompt.length - longest).toBeWithin(2, 7);
    }
  });

  test("chatTraffic keeps prompts within their limit and tokens within the vocabulary, beyond 65,535 too", () => {
    const prompts = firstPrompts(OPTIONS, 500);
    expect(Math.max(...prompts.map((prompt) => prompt.length))).toBeWithin(35, 41);
    const largestToken = Math.max(...prompts.flatMap((prompt) => [...prompt]));
    expect(largestToken).toBeWithin(65_536, VOCABULARY_SIZE);
  });

  test("chatTraffic never changes a prompt that it handed out", () => {
    const traffic = chatTraffic(OPTIONS);
    const prompt = traffic.next().value;
    const copy = prompt.slice();
    traffic.take(100).toArray();
    expect(prompt).toEqual(copy);
  });

  test.each([{ systemPrompts: 0 }, { conversations: 0 }, { turnTokensMin: 0 }, { turnTokensMin: 7 }, { promptTokensMax: 13 }])(
    "chatTraffic refuses %p",
    (wrong) => {
      expect(() => chatTraffic({ ...OPTIONS, ...wrong }).next()).toThrow("Invariant broken");
    },
  );

  test("SMALL_SITE is within its own limits", () => {
    expect(firstPrompts(SMALL_SITE, 3)).toHaveLength(3);
  });
});

describe("SeededRandom", () => {
  test("SeededRandom gives mulberry32's published series for seed 1", () => {
    const random = new SeededRandom(1);
    expect([random.nextUint32(), random.nextUint32(), random.nextUint32()]).toEqual([2693262067, 11749833, 2265367787]);
  });

  test("SeededRandom reaches both ends of a range and nothing beyond", () => {
    const random = new SeededRandom(9);
    const drawn = new Set(Array.from({ length: 200 }, () => random.integerBetween(-1, 2)));
    expect([...drawn].toSorted()).toEqual([-1, 0, 1, 2]);
  });
});
