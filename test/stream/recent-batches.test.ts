import { describe, expect, test } from "bun:test";
import { RecentBatches } from "../../src/stream/recent-batches.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

describe("RecentBatches", () => {
  test("RecentBatches knows the same bytes under the same number", () => {
    const recent = new RecentBatches();
    expect(recent.isRepeat(7, bytes(1, 2))).toBe(false);
    expect(recent.isRepeat(7, bytes(1, 2))).toBe(true);
  });

  test("RecentBatches tells other bytes, a prefix of them, and other numbers from a repeat", () => {
    const recent = new RecentBatches();
    recent.isRepeat(7, bytes(1, 2));
    expect(recent.isRepeat(8, bytes(1, 2))).toBe(false);
    expect(recent.isRepeat(7 + 256, bytes(1, 2))).toBe(false);
    recent.isRepeat(7, bytes(1, 2));
    expect(recent.isRepeat(7, bytes(1))).toBe(false);
    expect(recent.isRepeat(7, bytes(2, 1))).toBe(false);
  });

  test("RecentBatches remembers the newest bytes of a number", () => {
    const recent = new RecentBatches();
    recent.isRepeat(7, bytes(1));
    recent.isRepeat(7, bytes(2));
    expect(recent.isRepeat(7, bytes(1))).toBe(false);
    expect(recent.isRepeat(7, bytes(1))).toBe(true);
  });

  test("RecentBatches knows nothing at first, not even batch 0 or an empty payload", () => {
    const recent = new RecentBatches();
    expect(recent.isRepeat(0, bytes())).toBe(false);
    expect(recent.isRepeat(0, bytes())).toBe(true);
  });

  test("RecentBatches remembers the last 256 numbers, the largest too", () => {
    const recent = new RecentBatches();
    const last = Number.MAX_SAFE_INTEGER;
    for (let batchSeq = last - 256; batchSeq <= last; batchSeq++) recent.isRepeat(batchSeq, bytes(5));
    expect(recent.isRepeat(last, bytes(5))).toBe(true);
    expect(recent.isRepeat(last - 255, bytes(5))).toBe(true);
    expect(recent.isRepeat(last - 256, bytes(5))).toBe(false);
  });
});
