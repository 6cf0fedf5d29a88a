import { describe, expect, test } from "bun:test";
import { createXXHash64 } from "hash-wasm";
import { prefixHashes } from "../../src/client/lib/prefix-hashes.ts";

/** The chain by another library, byte by byte from its definition. */
async function independentHashes(tokens: readonly number[], blockSize: number, seed: bigint): Promise<bigint[]> {
  const hasher = await createXXHash64(0, 0);
  const hashes: bigint[] = [];
  for (let end = blockSize; end <= tokens.length; end += blockSize) {
    const parent = hashes.at(-1) ?? seed;
    const parentBytes = Array.from({ length: 8 }, (_, index) => Number((parent >> BigInt(8 * index)) & 0xffn));
    const tokenBytes = tokens
      .slice(end - blockSize, end)
      .flatMap((token) => [token >>> 24, (token >>> 16) & 255, (token >>> 8) & 255, token & 255]);
    hasher.init();
    hasher.update(Uint8Array.from([...parentBytes, ...tokenBytes]));
    hashes.push(BigInt(`0x${hasher.digest("hex")}`));
  }
  return hashes;
}

describe("prefixHashes", () => {
  test("prefixHashes chains XXH64 over the parent, little-endian, and the tokens, big-endian", async () => {
    const tokens = Array.from({ length: 70 }, (_, index) => (index * 2_654_435_761) % 2 ** 32);
    for (const [blockSize, seed] of [
      [1, 0n],
      [16, 0n],
      [16, 1024n],
      [4, 0xffff_ffff_ffff_ffffn],
    ] as const) {
      expect(prefixHashes(tokens, { blockSize, seed })).toEqual(await independentHashes(tokens, blockSize, seed));
    }
  });

  test("prefixHashes gives known values for tokens 1 to 4 in blocks of 2", () => {
    // XXH64 by hash-wasm of 0000000000000000 00000001 00000002, then of c4bd1d418983a77a 00000003 00000004.
    const expected = [0x7aa78389411dbdc4n, 0x24ace8669fdc845an];
    expect(prefixHashes([1, 2, 3, 4], { blockSize: 2, seed: 0n })).toEqual(expected);
  });

  test("prefixHashes counts full blocks only", () => {
    expect(prefixHashes([1, 2, 3], { blockSize: 4, seed: 0n })).toEqual([]);
    expect(prefixHashes([1, 2, 3, 4, 5], { blockSize: 4, seed: 0n })).toEqual(
      prefixHashes([1, 2, 3, 4], { blockSize: 4, seed: 0n }),
    );
  });

  test("prefixHashes gives the same for a typed array", () => {
    const tokens = [7, 8, 9, 10];
    expect(prefixHashes(Uint32Array.from(tokens), { blockSize: 2, seed: 5n })).toEqual(
      prefixHashes(tokens, { blockSize: 2, seed: 5n }),
    );
  });

  test("prefixHashes refuses a block size, a seed or a token out of range", () => {
    expect(() => prefixHashes([1], { blockSize: 0, seed: 0n })).toThrow("block size 0");
    expect(() => prefixHashes([1], { blockSize: 1.5, seed: 0n })).toThrow("block size 1.5");
    expect(() => prefixHashes([1], { blockSize: 1, seed: -1n })).toThrow("seed -1");
    expect(() => prefixHashes([1], { blockSize: 1, seed: 2n ** 64n })).toThrow("seed 18446744073709551616");
    expect(() => prefixHashes([1, 2 ** 32], { blockSize: 1, seed: 0n })).toThrow("token 4294967296 at position 1");
    expect(() => prefixHashes([1, Number.NaN], { blockSize: 1, seed: 0n })).toThrow("token NaN at position 1");
  });
});
