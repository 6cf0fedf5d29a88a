import { describe, expect, test } from "bun:test";
import { Timers } from "../../src/stream/timers.ts";
import { FakeClock } from "../support/fake-clock.ts";

function create() {
  const clock = new FakeClock();
  return { clock, timers: new Timers(clock) };
}

describe("Timers", () => {
  test("Timers have no deadline while none runs", () => {
    const { timers } = create();
    expect(timers.nextDeadlineMs).toBe(Number.POSITIVE_INFINITY);
    expect(timers.takeDue()).toBeNull();
  });

  test("Timers give each that is due once, and not before its time", () => {
    const { clock, timers } = create();
    timers.start("answer", 10);
    timers.start("resync", 20);
    expect(timers.nextDeadlineMs).toBe(10);
    clock.advance(9);
    expect(timers.takeDue()).toBeNull();
    clock.advance(1);
    expect(timers.takeDue()).toBe("answer");
    expect(timers.takeDue()).toBeNull();
    expect(timers.nextDeadlineMs).toBe(20);
    clock.advance(50);
    expect(timers.takeDue()).toBe("resync");
  });

  test("Timers start again from now", () => {
    const { clock, timers } = create();
    timers.start("retry", 10);
    clock.advance(9);
    timers.start("retry", 10);
    clock.advance(9);
    expect(timers.takeDue()).toBeNull();
    clock.advance(1);
    expect(timers.takeDue()).toBe("retry");
  });

  test("Timers that were stopped do not come, and stopping one that does not run is harmless", () => {
    const { clock, timers } = create();
    timers.start("settle", 10);
    timers.stop("settle");
    timers.stop("retry");
    clock.advance(100);
    expect(timers.takeDue()).toBeNull();
  });
});
