import { describe, expect, test } from "bun:test";
import { extraKeyBytes, loraNameRoot } from "#domain";
import { promptKeys, STRIDES_MAX, strideTokensOf } from "../../src/routing/prompt-keys.ts";
import { prompt } from "./scene.ts";

const keysOf = (...parameters: Parameters<typeof promptKeys>) => [...promptKeys(...parameters).keys];
const SALT = extraKeyBytes(["salt"]);

describe("strideTokensOf", () => {
  test.each([
    [1, 128],
    [16, 128],
    [48, 144],
    [128, 128],
    [200, 200],
    [4096, 4096],
  ])("strideTokensOf blocks of %d is %d", (blockSize, expected) => {
    expect(strideTokensOf(blockSize)).toBe(expected);
  });
});

describe("promptKeys", () => {
  test("promptKeys has a whole 53-bit number for each full stride", () => {
    const { strideTokens, keys } = promptKeys(prompt(128 * 3 + 127), 16, null);
    expect(strideTokens).toBe(128);
    expect(keys.length).toBe(3);
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(Number.isSafeInteger(key)).toBe(true);
    expect(promptKeys(prompt(127), 16, null).keys.length).toBe(0);
  });

  test("promptKeys of a prompt begin with those of its prefix", () => {
    expect(keysOf(prompt(1024), 128, null).slice(0, 3)).toEqual(keysOf(prompt(384), 128, null));
  });

  test("promptKeys differ from the first stride on that differs, equal strides behind it included", () => {
    const changed = prompt(512);
    changed[130]++;
    const [original, other] = [keysOf(prompt(512), 128, null), keysOf(changed, 128, null)];
    expect(other[0]).toBe(original[0]);
    for (const stride of [1, 2, 3]) expect(other[stride]).not.toBe(original[stride]);
  });

  test("promptKeys differ under every namespace", () => {
    const namespaces = [
      null,
      { root: loraNameRoot("adapter-a"), extraKeys: null },
      { root: loraNameRoot("adapter-b"), extraKeys: null },
      { root: null, extraKeys: [SALT] },
      { root: null, extraKeys: [null, SALT] },
      { root: loraNameRoot("adapter-a"), extraKeys: [SALT] },
    ];
    expect(new Set(namespaces.map((namespace) => keysOf(prompt(128), 16, namespace)[0])).size).toBe(namespaces.length);
  });

  test("promptKeys differ from the stride on that holds an extra key's block", () => {
    // Block 9 of 16 tokens is in the second stride of 128.
    const extraKeys = Array.from({ length: 10 }, (_, block) => (block === 9 ? SALT : null));
    const [plain, salted] = [keysOf(prompt(384), 16, null), keysOf(prompt(384), 16, { root: null, extraKeys })];
    expect(salted[0]).toBe(plain[0]);
    expect(salted[1]).not.toBe(plain[1]);
    expect(salted[2]).not.toBe(plain[2]);
  });

  test("promptKeys ends at its limit", () => {
    expect(promptKeys(new Uint32Array(128 * (STRIDES_MAX + 1)), 128, null).keys.length).toBe(STRIDES_MAX);
  });
});
