import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { VirtualTime } from "./virtual-time.ts";

describe("VirtualTime", () => {
  test("What is due first happens first, and of what is due at once, what was planned first", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (delays) => {
        const time = new VirtualTime();
        const happened: { atMs: number; order: number }[] = [];
        for (const [order, atMs] of delays.entries()) time.at(atMs, () => happened.push({ atMs: time.nowMs, order }));
        time.runAll();
        const planned = delays.map((atMs, order) => ({ atMs, order }));
        expect(happened).toEqual(planned.sort((left, right) => left.atMs - right.atMs || left.order - right.order));
      }),
    );
  });

  test("An event may plan others, from its own time on", () => {
    const time = new VirtualTime();
    const seen: number[] = [];
    time.at(5, () => {
      time.after(0, () => seen.push(time.nowMs));
      time.after(2.5, () => seen.push(time.nowMs));
    });
    time.at(6, () => seen.push(time.nowMs));
    time.runAll();
    expect(seen).toEqual([5, 6, 7.5]);
  });

  test("Nothing is planned for a time that has passed", () => {
    const time = new VirtualTime();
    time.at(5, () => time.at(4, () => {}));
    expect(() => time.runAll()).toThrow("4 ms is not before 5 ms");
  });
});
