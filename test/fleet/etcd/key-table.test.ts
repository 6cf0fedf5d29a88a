import { beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ROLES, type Role } from "#domain";
import { type KeyChange, KeyTable, type KeyValue } from "../../../src/fleet/etcd/key-table.ts";
import { RecordingLogger } from "./recording-logger.ts";
import { RecordingRegistrar } from "./recording-registrar.ts";
import { loadValue, registrationValue } from "./registration-value.ts";

const NAME = "10.0.0.5:8000";

let registrar: RecordingRegistrar;
let logger: RecordingLogger;
let table: KeyTable;

beforeEach(() => {
  registrar = new RecordingRegistrar();
  logger = new RecordingLogger();
  table = new KeyTable({ prefixBytes: 0, registrar, logger });
});

function entry(key: string, value: Buffer, modRevision: number): KeyValue {
  return { key: Buffer.from(key), value, modRevision };
}

function instance(role: Role, name: string, incarnation: string, modRevision: number): KeyValue {
  return entry(`XLLM:${role}:${name}`, registrationValue(role, incarnation), modRevision);
}

function load(name: string, waitingRequests: number, modRevision: number): KeyValue {
  return entry(`XLLM:LOADMETRICS:${name}`, loadValue(waitingRequests, 0.5), modRevision);
}

function put(entry: KeyValue): void {
  table.applyChange({ type: "put", ...entry });
}

function remove(key: string): void {
  table.applyChange({ type: "delete", key: Buffer.from(key) });
}

describe("KeyTable with a listing", () => {
  test("KeyTable puts what is new, loses the lease of what is gone, and is silent on what stayed", () => {
    table.applyListing([instance("DECODE", "stays:1", "s", 1), instance("MIX", "goes:1", "g", 2)]);
    expect(registrar.take()).toEqual(["put DECODE stays:1 s", "put MIX goes:1 g"]);
    table.applyListing([instance("DECODE", "stays:1", "s", 1), instance("PREFILL", "comes:1", "c", 5)]);
    expect(registrar.take()).toEqual(["lose goes:1 g", "put PREFILL comes:1 c"]);
    expect(table.instanceCount).toBe(2);
  });

  test("KeyTable puts an instance again whose key was written again, with whatever value", () => {
    table.applyListing([instance("MIX", "same:1", "s", 1), instance("MIX", "other:1", "o", 2)]);
    registrar.take();
    table.applyListing([instance("MIX", "same:1", "s", 7), instance("MIX", "other:1", "another", 8)]);
    expect(registrar.take()).toEqual(["put MIX same:1 s", "put MIX other:1 another"]);
  });

  test("KeyTable is not deceived by an etcd that counts its revisions anew", () => {
    table.applyListing([instance("MIX", NAME, "old", 3)]);
    registrar.take();
    table.applyListing([instance("MIX", NAME, "new", 3)]);
    expect(registrar.take()).toEqual([`put MIX ${NAME} new`]);
  });

  test("KeyTable reports loads after the instances that they belong to, and unchanged ones once", () => {
    const listing = [load(NAME, 3, 4), instance("PREFILL", NAME, "one", 2)];
    table.applyListing(listing);
    expect(registrar.take()).toEqual([`put PREFILL ${NAME} one`, `load ${NAME} 3 0.5`]);
    table.applyListing(listing);
    expect(registrar.take()).toEqual([]);
    table.applyListing([load(NAME, 3, 5), instance("PREFILL", NAME, "one", 2)]);
    expect(registrar.take()).toEqual([`load ${NAME} 3 0.5`]);
  });

  test("KeyTable sees a change of role that it missed as one put", () => {
    table.applyListing([instance("PREFILL", NAME, "one", 1)]);
    registrar.take();
    table.applyListing([instance("DECODE", NAME, "one", 2)]);
    expect(registrar.take()).toEqual([`put DECODE ${NAME} one`]);
  });

  test("KeyTable keeps no hold of the bytes that it was given", () => {
    const listed = instance("MIX", NAME, "one", 1);
    table.applyListing([listed]);
    registrar.take();
    const before = Buffer.from(listed.value);
    listed.value.fill(0);
    table.applyListing([{ ...listed, value: before }]);
    expect(registrar.take()).toEqual([]);
  });
});

describe("KeyTable with changes", () => {
  test("KeyTable loses the lease of the incarnation whose key was deleted", () => {
    put(instance("MIX", NAME, "one", 1));
    put(instance("MIX", NAME, "two", 2));
    remove(`XLLM:MIX:${NAME}`);
    expect(registrar.take()).toEqual([`put MIX ${NAME} one`, `put MIX ${NAME} two`, `lose ${NAME} two`]);
    expect(table.instanceCount).toBe(0);
  });

  test("KeyTable ignores the deletion of a key that it never saw", () => {
    remove(`XLLM:MIX:${NAME}`);
    expect(registrar.take()).toEqual([]);
  });

  test("KeyTable sees a change of role, put first", () => {
    put(instance("PREFILL", NAME, "one", 1));
    put(instance("DECODE", NAME, "one", 2));
    remove(`XLLM:PREFILL:${NAME}`);
    expect(registrar.take()).toEqual([`put PREFILL ${NAME} one`, `put DECODE ${NAME} one`]);
  });

  test("KeyTable sees a change of role, deleted first", () => {
    put(instance("PREFILL", NAME, "one", 1));
    remove(`XLLM:PREFILL:${NAME}`);
    put(instance("DECODE", NAME, "one", 3));
    expect(registrar.take()).toEqual([`put PREFILL ${NAME} one`, `lose ${NAME} one`, `put DECODE ${NAME} one`]);
  });

  test("KeyTable lets the older key speak again when the newer one is deleted", () => {
    table.applyListing([instance("DECODE", NAME, "one", 2), instance("PREFILL", NAME, "one", 1)]);
    remove(`XLLM:DECODE:${NAME}`);
    remove(`XLLM:PREFILL:${NAME}`);
    expect(registrar.take()).toEqual([`put DECODE ${NAME} one`, `put PREFILL ${NAME} one`, `lose ${NAME} one`]);
  });

  test("KeyTable reports a load once for each write, and nothing when it is deleted", () => {
    const written = load(NAME, 3, 1);
    put(written);
    put(written);
    put(load(NAME, 4, 2));
    remove(`XLLM:LOADMETRICS:${NAME}`);
    expect(registrar.take()).toEqual([`load ${NAME} 3 0.5`, `load ${NAME} 4 0.5`]);
  });
});

describe("KeyTable with what it cannot use", () => {
  const malformed = (modRevision: number) => entry(`XLLM:MIX:${NAME}`, Buffer.from("{}"), modRevision);
  const refusal = `refuse ${NAME}: name is missing, a string is needed`;

  test("KeyTable refuses a malformed instance with the reason, others go on", () => {
    table.applyListing([malformed(1), instance("MIX", "other:1", "o", 2)]);
    expect(registrar.take()).toEqual([refusal, "put MIX other:1 o"]);
    table.applyListing([malformed(1), instance("MIX", "other:1", "o", 2)]);
    expect(registrar.take()).toEqual([]);
  });

  test("KeyTable withdraws a refusal with its key", () => {
    put(malformed(1));
    remove(`XLLM:MIX:${NAME}`);
    expect(registrar.take()).toEqual([refusal, `withdraw ${NAME}`]);
  });

  test("KeyTable puts a malformed instance that was mended, which withdraws nothing later", () => {
    put(malformed(1));
    put(instance("MIX", NAME, "one", 2));
    remove(`XLLM:MIX:${NAME}`);
    expect(registrar.take()).toEqual([refusal, `put MIX ${NAME} one`, `lose ${NAME} one`]);
  });

  test("KeyTable tells a fleet that refused a registration both, since it may have taken it later", () => {
    registrar.outcome = { refused: "registered through http already" };
    put(instance("MIX", NAME, "one", 1));
    remove(`XLLM:MIX:${NAME}`);
    expect(registrar.take()).toEqual([`put MIX ${NAME} one`, `lose ${NAME} one`, `withdraw ${NAME}`]);
  });

  test("KeyTable counts the keys that it skips and logs the first of each reason", () => {
    const odd = [
      entry("XLLM:E\0\xff", Buffer.of(0), 1),
      entry("XLLM:EXTRA", Buffer.of(0), 2),
      { key: Buffer.concat([Buffer.from("XLLM:MIX:"), Buffer.of(0xff)]), value: Buffer.of(0), modRevision: 3 },
      entry(`XLLM:LOADMETRICS:${NAME}`, Buffer.from("{}"), 4),
    ];
    table.applyListing(odd);
    put(odd[1]);
    remove("XLLM:EXTRA");
    expect(registrar.take()).toEqual([]);
    expect(table.skipped).toEqual({ "unknown-key": 3, "unreadable-name": 1, "malformed-load": 1, "table-full": 0 });
    expect(logger.lines.map((line) => /reason=(\S+)/.exec(line)?.[1])).toEqual([
      "unknown-key",
      "unreadable-name",
      "malformed-load",
    ]);
    expect(logger.lines[2]).toContain("waiting_requests_num is missing, a number is needed");
  });

  test("KeyTable skips names beyond its limit and goes on with those that it has", () => {
    for (let n = 0; n < 65_536; n++) put(load(`a:${n}`, 1, n + 1));
    put(load("b:1", 1, 70_000));
    put(load("a:7", 2, 70_001));
    expect(table.skipped["table-full"]).toBe(1);
    expect(registrar.take().slice(65_536)).toEqual(["load a:7 2 0.5"]);
  });
});

describe("KeyTable over any history", () => {
  const NAMES = ["a:1", "b:1"];
  const step = fc.record({
    role: fc.constantFrom(...ROLES),
    name: fc.constantFrom(...NAMES),
    incarnation: fc.constantFrom("one", "two", null),
    isPut: fc.boolean(),
    /** The change is not seen: Warmpath is cut off until the next listing. */
    isMissed: fc.boolean(),
  });

  test("KeyTable leaves the fleet with what the highest revision of each name says", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const told = new RecordingRegistrar();
        const table = new KeyTable({ prefixBytes: 0, registrar: told, logger });
        const etcd = new Map<string, KeyValue>();
        let isCutOff = false;
        const list = () => table.applyListing([...etcd.values()]);
        for (const [n, { role, name, incarnation, isPut, isMissed }] of steps.entries()) {
          const key = `XLLM:${role}:${name}`;
          const value = incarnation === null ? Buffer.from("{}") : registrationValue(role, incarnation);
          const change: KeyChange = isPut
            ? { type: "put", ...entry(key, value, n + 1) }
            : { type: "delete", key: Buffer.from(key) };
          if (change.type === "put") etcd.set(key, change);
          else etcd.delete(key);
          if (isMissed) isCutOff = true;
          else if (isCutOff) {
            list();
            isCutOff = false;
          } else table.applyChange(change);
        }
        if (isCutOff) list();
        expect(fleetOf(told.calls)).toEqual(expectedFleet(etcd));
      }),
    );
  });

  /** What the calls leave: `PREFILL one` or `refused` for each name. */
  function fleetOf(calls: readonly string[]): Record<string, string> {
    const fleet = new Map<string, string>();
    for (const call of calls) {
      const [verb, second, third, fourth] = call.split(/:? /);
      if (verb === "put") fleet.set(third, `${second} ${fourth}`);
      else if (verb === "refuse") fleet.set(second, "refused");
      else {
        const present = fleet.get(second);
        expect(verb === "withdraw" ? present : present?.split(" ")[1]).toBe(verb === "withdraw" ? "refused" : third);
        fleet.delete(second);
      }
    }
    return Object.fromEntries(fleet);
  }

  function expectedFleet(etcd: ReadonlyMap<string, KeyValue>): Record<string, string> {
    const fleet: Record<string, string> = {};
    for (const { key, value } of [...etcd.values()].sort((one, other) => one.modRevision - other.modRevision)) {
      const [, role, name] = /^XLLM:(\w+):(.*)$/.exec(key.toString()) ?? [];
      const { incarnation_id } = JSON.parse(value.toString());
      fleet[name] = incarnation_id === undefined ? "refused" : `${role} ${incarnation_id}`;
    }
    return fleet;
  }
});
