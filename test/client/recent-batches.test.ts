import { describe, expect, test } from "bun:test";
import { RecentBatches } from "../../src/client/lib/recent-batches.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("RecentBatches", () => {
  test("RecentBatches knows the same bytes under the same number only", () => {
    const recent = new RecentBatches();
    recent.add(7, bytes("seven"));
    expect(recent.has(7, bytes("seven"))).toBe(true);
    expect(recent.has(7, bytes("other"))).toBe(false);
    expect(recent.has(8, bytes("seven"))).toBe(false);
  });

  test("RecentBatches remembers a whole replay of 10,000 batches, and forgets what is far behind", () => {
    const recent = new RecentBatches();
    for (let batchSeq = 0; batchSeq < 20_000; batchSeq++) recent.add(batchSeq, bytes(String(batchSeq)));
    expect(recent.has(10_000, bytes("10000"))).toBe(true);
    expect(recent.has(0, bytes("0"))).toBe(false);
  });

  test("RecentBatches knows every batch that a snapshot covers until a batch after it is delivered", () => {
    const recent = new RecentBatches();
    recent.cover(5);
    expect(recent.has(5, bytes("any"))).toBe(true);
    expect(recent.has(6, bytes("any"))).toBe(false);
    recent.add(6, bytes("six"));
    expect(recent.has(5, bytes("any"))).toBe(false);
  });

  test("RecentBatches knows nothing once cleared", () => {
    const recent = new RecentBatches();
    recent.add(1, bytes("one"));
    recent.cover(9);
    recent.clear();
    expect(recent.has(1, bytes("one"))).toBe(false);
  });
});
