import { describe, expect, test } from "bun:test";
import { decode } from "@msgpack/msgpack";
import { encodeBatch, encodeBatchSeq } from "#sim";

describe("encodeBatch", () => {
  test("encodeBatch writes typed maps with the engine's field names, media and full-width hashes", () => {
    const payload = encodeBatch(
      [
        {
          kind: "stored",
          tier: "device",
          hashes: [5n, 2n ** 64n - 1n],
          parentHash: 2n ** 63n,
          tokens: Uint32Array.of(0, 149_999, 65_535, 65_536),
          blockSize: 2,
        },
        { kind: "stored", tier: "host", hashes: [5n], parentHash: null, tokens: new Uint32Array(0), blockSize: 0 },
        { kind: "removed", tier: "host", hashes: [5n] },
        { kind: "cleared" },
      ],
      3,
      1700000000.5,
    );
    expect(decode(payload, { useBigInt64: true })).toEqual([
      1700000000.5,
      [
        {
          type: "BlockStored",
          block_hashes: [5n, 2n ** 64n - 1n],
          parent_block_hash: 2n ** 63n,
          token_ids: [0, 149_999, 65_535, 65_536],
          block_size: 2,
          medium: "gpu",
        },
        { type: "BlockStored", block_hashes: [5n], parent_block_hash: null, token_ids: [], block_size: 0, medium: "cpu" },
        { type: "BlockRemoved", block_hashes: [5n], medium: "cpu" },
        { type: "AllBlocksCleared" },
      ],
      3,
    ]);
  });

  test("encodeBatch gives the exact bytes of a batch without parent", () => {
    expect(encodeBatch([{ kind: "cleared" }], 0, 1700000000.5).toHex()).toBe(
      "93cb41d954fc402000009181a474797065b0416c6c426c6f636b73436c656172656400",
    );
  });
});

describe("encodeBatchSeq", () => {
  test("encodeBatchSeq is 8 bytes big-endian, also beyond 32 bits", () => {
    expect(encodeBatchSeq(7).toHex()).toBe("0000000000000007");
    expect(encodeBatchSeq(2 ** 53 - 1).toHex()).toBe("001fffffffffffff");
  });
});
