import { describe, expect, test } from "bun:test";
import { IN_FLIGHT_MS, InFlight } from "../../src/routing/in-flight.ts";

describe("InFlight", () => {
  test("InFlight counts what was sent to an instance since its report", () => {
    const inFlight = new InFlight();
    inFlight.send("r1", "a", 100);
    inFlight.send("r2", "a", 110);
    inFlight.send("r3", "b", 110);
    expect(inFlight.count("a", 50, 120)).toBe(2);
    expect(inFlight.count("b", 50, 120)).toBe(1);
    expect(inFlight.count("c", 50, 120)).toBe(0);
  });

  test("InFlight drops what a later report knows of, not what was sent at its very moment", () => {
    const inFlight = new InFlight();
    inFlight.send("r1", "a", 100);
    inFlight.send("r2", "a", 110);
    expect(inFlight.count("a", 100, 120)).toBe(2);
    expect(inFlight.count("a", 110, 120)).toBe(1);
    expect(inFlight.count("a", 111, 120)).toBe(0);
  });

  test("InFlight does not count again what an earlier look has dropped", () => {
    const inFlight = new InFlight();
    inFlight.send("r1", "a", 100);
    expect(inFlight.count("a", 101, 120)).toBe(0);
    expect(inFlight.count("a", 50, 120)).toBe(0);
  });

  test("InFlight tells what would count without a request, and drops nothing by it", () => {
    const inFlight = new InFlight();
    for (const [id, sentAtMs] of [["r1", 100], ["r2", 110], ["r3", 120]] as const) inFlight.send(id, "a", sentAtMs); // biome-ignore format: a table
    expect(inFlight.peek("a", 105, 130, "r3")).toBe(1);
    expect(inFlight.peek("a", 0, 110 + IN_FLIGHT_MS, "none")).toBe(1);
    expect(inFlight.peek("b", 0, 130, "r1")).toBe(0);
    expect(inFlight.count("a", 0, 130)).toBe(3);
  });

  test("InFlight drops a finished request, once, from wherever in the queue", () => {
    const inFlight = new InFlight();
    for (const id of ["r1", "r2", "r3"]) inFlight.send(id, "a", 100);
    inFlight.finish("r2");
    inFlight.finish("r2");
    inFlight.finish("never sent");
    expect(inFlight.count("a", 0, 100)).toBe(2);
  });

  test("InFlight drops a request after 30 seconds, not before", () => {
    const inFlight = new InFlight();
    inFlight.send("r1", "a", 100);
    expect(inFlight.count("a", 0, 100 + IN_FLIGHT_MS - 1)).toBe(1);
    expect(inFlight.count("a", 0, 100 + IN_FLIGHT_MS)).toBe(0);
  });

  test("InFlight counts a request that is sent again only where it was sent last", () => {
    const inFlight = new InFlight();
    inFlight.send("r1", "a", 100);
    inFlight.send("r1", "b", 101);
    expect(inFlight.count("a", 0, 102)).toBe(0);
    expect(inFlight.count("b", 0, 102)).toBe(1);
  });

  test("InFlight forgets the oldest request when it is full, and counts that", () => {
    const inFlight = new InFlight(2);
    for (const [id, name] of [
      ["r1", "a"],
      ["r2", "b"],
      ["r3", "b"],
    ])
      inFlight.send(id, name, 100);
    expect([inFlight.count("a", 0, 100), inFlight.count("b", 0, 100), inFlight.forgotten]).toEqual([0, 2, 1]);
  });

  test("InFlight makes room from expired requests without counting them as forgotten", () => {
    const inFlight = new InFlight(2);
    inFlight.send("r1", "gone", 0);
    inFlight.send("r2", "gone", 0);
    inFlight.send("r3", "a", IN_FLIGHT_MS);
    expect([inFlight.count("gone", 0, 0), inFlight.forgotten]).toEqual([0, 0]);
  });

  test("InFlight forgets an instance that is gone, and everything when it is reset", () => {
    const inFlight = new InFlight();
    inFlight.send("r1", "a", 0);
    inFlight.send("r2", "b", 0);
    inFlight.forgetInstance("a");
    expect([inFlight.count("a", 0, 1), inFlight.count("b", 0, 1)]).toEqual([0, 1]);
    inFlight.reset();
    expect(inFlight.count("b", 0, 1)).toBe(0);
  });
});
