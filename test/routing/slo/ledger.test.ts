import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { REQUEST_STEPS } from "#routing";
import { Ledger, SILENT_REQUEST_MS } from "../../../src/routing/slo/ledger.ts";

function booking(requestId: string, prefillName: string, decodeName: string | null, promptTokens = 100, ttftMs = 20) {
  return { requestId, prefillName, decodeName, promptTokens, ttftMs };
}

const NOTHING = { prefillRequests: 0, prefillTokens: 0, decodeRequests: 0, decodeTokens: 0, estimatedPrefillMs: 0 };

describe("Ledger", () => {
  test("Ledger follows a request from its schedule to its end", () => {
    const ledger = new Ledger();
    expect(ledger.schedule(booking("r", "p", "d"), 0)).toEqual([]);
    expect(ledger.account("p")).toEqual({ ...NOTHING, prefillRequests: 1, prefillTokens: 100, estimatedPrefillMs: 20 });
    expect(ledger.account("d")).toEqual({ ...NOTHING, decodeRequests: 1, decodeTokens: 100 });
    expect(ledger.step("r", "finish-prefill", 1)).toBeNull();
    expect(ledger.account("p")).toEqual(NOTHING);
    expect(ledger.account("d").decodeTokens).toBe(101);
    ledger.step("r", "generate", 2);
    ledger.step("r", "generate", 3);
    expect(ledger.account("d")).toEqual({ ...NOTHING, decodeRequests: 1, decodeTokens: 103 });
    expect(ledger.step("r", "finish-decode", 4)).toBe("d");
    expect(ledger.account("d")).toEqual(NOTHING);
  });

  test("Ledger adds requests up and names an instance as idle with its last one only", () => {
    const ledger = new Ledger();
    ledger.schedule(booking("r1", "p", "d", 100, 20.5), 0);
    ledger.schedule(booking("r2", "p", "d", 50, 10.25), 0);
    expect(ledger.account("p")).toMatchObject({ prefillRequests: 2, prefillTokens: 150, estimatedPrefillMs: 30.75 });
    for (let token = 0; token < 3; token++) ledger.step("r1", "generate", 1);
    expect(ledger.account("d")).toMatchObject({ decodeRequests: 2, decodeTokens: 153 });
    expect(ledger.step("r1", "finish-decode", 1)).toBeNull();
    expect(ledger.account("d")).toMatchObject({ decodeRequests: 1, decodeTokens: 50 });
    expect(ledger.account("p")).toMatchObject({ prefillRequests: 1, prefillTokens: 50, estimatedPrefillMs: 10.25 });
    expect(ledger.step("r2", "cancel", 1)).toBe("d");
  });

  test("Ledger leaves no rest of a time that was rounded, in either direction", () => {
    // In doubles 0.1 + 0.2 − 0.1 − 0.2 is above 0, and 0.3 + 0.6 − 0.3 − 0.6 below.
    const ledger = new Ledger();
    ledger.schedule(booking("r", "q", "p"), 0);
    ledger.schedule(booking("r1", "p", "d", 100, 0.1), 0);
    ledger.schedule(booking("r2", "p", "d", 100, 0.2), 0);
    for (const id of ["r1", "r2"]) ledger.step(id, "finish-prefill", 1);
    expect(ledger.account("p")).toMatchObject({ prefillRequests: 0, estimatedPrefillMs: 0 });
    ledger.schedule(booking("r3", "p", "d", 100, 0.3), 2);
    ledger.schedule(booking("r4", "p", "d", 100, 0.6), 2);
    ledger.schedule(booking("r5", "p", "d", 100, 0), 2);
    for (const id of ["r3", "r4"]) ledger.step(id, "finish-prefill", 3);
    expect(ledger.account("p")).toMatchObject({ prefillRequests: 1, estimatedPrefillMs: 0 });
  });

  test("Ledger takes back both parts of a request that is cancelled before its first token", () => {
    const ledger = new Ledger();
    ledger.schedule(booking("r", "p", "d"), 0);
    expect(ledger.step("r", "cancel", 1)).toBe("d");
    expect([ledger.account("p"), ledger.account("d")]).toEqual([NOTHING, NOTHING]);
  });

  test("Ledger takes a first generated token as the end of the prefill, and ends it once", () => {
    const ledger = new Ledger();
    ledger.schedule(booking("r", "p", "d"), 0);
    ledger.step("r", "generate", 1);
    ledger.step("r", "finish-prefill", 1);
    ledger.step("r", "finish-prefill", 1);
    expect(ledger.account("p")).toEqual(NOTHING);
    expect(ledger.account("d").decodeTokens).toBe(101);
  });

  test("Ledger keeps a request that is served alone on the prefill side only", () => {
    const ledger = new Ledger();
    ledger.schedule(booking("r", "a", null), 0);
    ledger.step("r", "generate", 1);
    expect(ledger.account("a")).toEqual(NOTHING);
    expect(ledger.step("r", "finish-decode", 2)).toBeNull();
  });

  test("Ledger counts steps of requests that it does not know", () => {
    const ledger = new Ledger();
    for (const step of REQUEST_STEPS) expect(ledger.step("r", step, 0)).toBeNull();
    expect(ledger.unknownSteps).toBe(4);
  });

  test("Ledger cancels a request that is scheduled again, and names who is idle by that", () => {
    const ledger = new Ledger();
    ledger.schedule(booking("r", "p", "d"), 0);
    expect(ledger.schedule(booking("r", "p", "d"), 1)).toEqual([]);
    expect(ledger.schedule(booking("r", "p", "e"), 2)).toEqual(["d"]);
    expect(ledger.account("p").prefillRequests).toBe(1);
    expect([ledger.account("d").decodeRequests, ledger.account("e").decodeRequests]).toEqual([0, 1]);
  });

  test("Ledger cancels requests that are silent for too long, a token counting as a sign of life", () => {
    const ledger = new Ledger();
    ledger.schedule(booking("r1", "p", "d"), 0);
    ledger.schedule(booking("r2", "p", "e"), 0);
    ledger.step("r1", "generate", 1000);
    expect(ledger.expire(SILENT_REQUEST_MS - 1)).toEqual([]);
    expect(ledger.expire(SILENT_REQUEST_MS)).toEqual(["e"]);
    expect(ledger.account("p")).toEqual(NOTHING);
    expect(ledger.expire(SILENT_REQUEST_MS + 1000)).toEqual(["d"]);
    expect(ledger.forgottenRequests).toBe(2);
  });

  test("Ledger cancels the request heard of least recently when it is full, and counts it", () => {
    const ledger = new Ledger(2);
    ledger.schedule(booking("r1", "p", "d"), 0);
    ledger.schedule(booking("r2", "p", "e"), 0);
    ledger.step("r1", "generate", 1);
    expect(ledger.schedule(booking("r3", "p", "d"), 2)).toEqual(["e"]);
    expect([ledger.account("d").decodeRequests, ledger.account("e").decodeRequests, ledger.forgottenRequests]).toEqual([2, 0, 1]);
  });

  test("Ledger ends every request that has a part on an instance that is gone", () => {
    const ledger = new Ledger();
    ledger.schedule(booking("prefilling there", "p", "d"), 0);
    ledger.schedule(booking("prefilled there", "p", "e"), 0);
    ledger.schedule(booking("decoding there", "q", "p"), 0);
    ledger.step("prefilled there", "finish-prefill", 1);
    expect(ledger.forgetInstance("p")).toEqual(["d"]);
    expect([ledger.account("p"), ledger.account("q"), ledger.account("d")]).toEqual([NOTHING, NOTHING, NOTHING]);
    expect(ledger.account("e").decodeRequests).toBe(1);
  });

  test("Ledger is empty when it is reset", () => {
    const ledger = new Ledger();
    ledger.schedule(booking("r", "p", "d"), 0);
    ledger.step("other", "cancel", 0);
    ledger.reset();
    expect([ledger.account("p"), ledger.account("d"), ledger.unknownSteps]).toEqual([NOTHING, NOTHING, 0]);
  });

  test("Ledger is never negative and ends with nothing, whatever is told in which order", () => {
    const names = fc.constantFrom("a", "b", "c");
    const ids = fc.constantFrom("r1", "r2", "r3", "r4");
    const move = fc.oneof(
      fc.record({
        kind: fc.constant("schedule" as const),
        id: ids,
        prefill: names,
        decode: fc.option(names),
        tokens: fc.nat(5000),
        ms: fc.double({ min: 0, max: 900, noNaN: true }),
      }),
      fc.record({ kind: fc.constant("step" as const), id: ids, step: fc.constantFrom(...REQUEST_STEPS) }),
      fc.record({ kind: fc.constant("forget" as const), name: names }),
      fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(SILENT_REQUEST_MS) }),
    );
    const property = fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const ledger = new Ledger(3);
      let nowMs = 0;
      for (const next of moves) {
        if (next.kind === "schedule") ledger.schedule(booking(next.id, next.prefill, next.decode, next.tokens, next.ms), nowMs);
        else if (next.kind === "step") {
          const withdrawn = ["a", "b", "c"].map((name) => ledger.accountWithout(next.id, name));
          ledger.step(next.id, next.step, nowMs);
          if (next.step === "cancel") expect(["a", "b", "c"].map((name) => ledger.account(name))).toEqual(withdrawn);
        } else if (next.kind === "forget") ledger.forgetInstance(next.name);
        else {
          nowMs += next.ms;
          ledger.expire(nowMs);
        }
        for (const name of ["a", "b", "c"]) {
          for (const amount of Object.values(ledger.account(name))) expect(amount).toBeGreaterThanOrEqual(0);
        }
      }
      for (const id of ["r1", "r2", "r3", "r4"]) ledger.step(id, "cancel", nowMs);
      for (const name of ["a", "b", "c"]) expect(ledger.account(name)).toEqual(NOTHING);
    });
    fc.assert(property, { numRuns: 500 });
  });
});
