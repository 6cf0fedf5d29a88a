import { describe, expect, test } from "bun:test";
import { Pulse } from "../../src/stream/pulse.ts";

const LIMIT_MS = 40;

describe("Pulse", () => {
  test("Pulse tells once that the counter stands still", async () => {
    const hang = Promise.withResolvers<void>();
    let calls = 0;
    const pulse = new Pulse(LIMIT_MS, () => {
      calls += 1;
      hang.resolve();
    });
    pulse.watch();
    await hang.promise;
    await Bun.sleep(2 * LIMIT_MS);
    expect(calls).toBe(1);
  });

  test("Pulse leaves a counter alone that moves, also one that has wrapped around", async () => {
    let hasHung = false;
    const pulse = new Pulse(LIMIT_MS, () => {
      hasHung = true;
    });
    const count = new Int32Array(pulse.memory);
    count[0] = 2 ** 31 - 5;
    pulse.watch();
    for (let beats = 0; beats < 40; beats++) {
      Atomics.add(count, 0, 1);
      await Bun.sleep(LIMIT_MS / 10);
    }
    pulse.stop();
    expect(hasHung).toBe(false);
  });

  test("Pulse tells nothing after it was stopped, or before it watches", async () => {
    let hasHung = false;
    const onHang = () => {
      hasHung = true;
    };
    new Pulse(LIMIT_MS, onHang);
    const pulse = new Pulse(LIMIT_MS, onHang);
    pulse.watch();
    pulse.stop();
    pulse.stop();
    await Bun.sleep(2 * LIMIT_MS);
    expect(hasHung).toBe(false);
  });
});
