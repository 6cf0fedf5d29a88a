import { describe, expect, test } from "bun:test";
import { createXXHash128 } from "hash-wasm";
import { createIndex } from "#index";
import { attachKernel } from "../../src/index/memory.ts";

const LENGTH_MAX = 5000;

const handle = await createIndex({ maxStreams: 128, maxBlocksPerStream: 1000 });
const kernel = attachKernel(handle, 0);
const input = new Uint8Array(handle.memory.buffer, kernel.readerTokensAddress(), LENGTH_MAX);
// Bytes without a pattern, from a linear congruential generator.
for (let n = 0, state = 1; n < LENGTH_MAX; n++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  input[n] = state >>> 24;
}

/** The kernel's digest in the order in which the algorithm's own tools print it: high word first. */
function kernelDigest(length: number, seed: bigint): string {
  const digest = new Uint8Array(handle.memory.buffer, kernel.digestBytes(length, seed), 16);
  return digest.toReversed().toHex();
}

describe("XXH3-128", () => {
  test.each([0n, 1n, 1024n, 0x7fffffffn, 0xffffffffn, 0x9e3779b185ebca87n, 2n ** 64n - 1n])(
    "XXH3-128 equals hash-wasm for every length up to 5,000 bytes with seed %s",
    async (seed) => {
      const oracle = await createXXHash128(Number(seed & 0xffffffffn), Number(seed >> 32n));
      for (let length = 0; length <= LENGTH_MAX; length++) {
        // A copy, for the oracle does not take shared memory.
        const expected = oracle.init().update(input.slice(0, length)).digest();
        const found = kernelDigest(length, seed);
        if (found !== expected) throw new Error(`Digest of ${length} bytes with seed ${seed} is ${found}, ${expected} is right`);
      }
    },
  );

  test("XXH3-128 of the same bytes differs by seed", () => {
    expect(kernelDigest(64, 1n)).not.toBe(kernelDigest(64, 2n));
  });
});
