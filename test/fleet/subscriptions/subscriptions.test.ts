import { beforeEach, describe, expect, test } from "bun:test";
import type { LogFields } from "#base";
import type { StreamDescription } from "#domain";
import { type StreamSet, Subscriptions } from "../../../src/fleet/subscriptions/mod.ts";
import { RULES } from "../../support/subscription-rules.ts";
import { instance, register, streamOf } from "./registered.ts";

/** Gives ids as the supervisor does, and keeps what was asked of it in order. */
class RecordedStreams implements StreamSet {
  readonly open = new Map<number, StreamDescription>();
  readonly calls: string[] = [];
  max = 128;

  addStream(stream: StreamDescription): number | null {
    const id = Array.from({ length: this.max }, (_, n) => n).find((candidate) => !this.open.has(candidate));
    if (id === undefined) return null;
    this.open.set(id, stream);
    this.calls.push(`add ${stream.instanceName}/${stream.dpRank} as ${id}`);
    return id;
  }

  removeStream(id: number): void {
    const stream = this.open.get(id);
    if (stream === undefined) throw new Error(`Stream ${id} is not open`);
    this.open.delete(id);
    this.calls.push(`remove ${stream.instanceName}/${stream.dpRank}`);
  }

  /** What was asked since the last call of this. */
  get news(): string[] {
    return this.calls.splice(0);
  }
}

let streams: RecordedStreams;
let lines: string[];
let subscriptions: Subscriptions;

function log(level: string) {
  return (message: string, { instance: name = "", reason = "" }: LogFields = {}) => {
    lines.push(`${level} ${message} ${name} ${reason}`.trim());
  };
}

function subscribe(rules: Partial<typeof RULES> = {}): void {
  const logger = { info: log("info"), warn: log("warn"), error: log("error") };
  subscriptions = new Subscriptions({ streams, rules: { ...RULES, ...rules }, logger });
}

/** Lines logged since the last call of this. */
function newLines(): string[] {
  return lines.splice(0);
}

beforeEach(() => {
  streams = new RecordedStreams();
  lines = [];
  subscribe();
});

describe("Subscriptions", () => {
  test("Subscriptions opens the streams of the fleet, and leaves what has not changed alone", () => {
    subscriptions.refresh([instance("a:1", { dpSize: 2 }), instance("b:1")]);
    expect(streams.news).toEqual(["add a:1/0 as 0", "add a:1/1 as 1", "add b:1/0 as 2"]);
    expect(newLines()).toEqual(["info Subscribed a:1", "info Subscribed b:1"]);
    expect([...streams.open.values()]).toEqual([streamOf("a:1"), streamOf("a:1", { dpRank: 1 }), streamOf("b:1")]);
    // Registered anew, with the same content, and without its lease.
    subscriptions.refresh([instance("a:1", { dpSize: 2 }), instance("b:1", { state: "LEASE_LOST" })]);
    expect(streams.news).toEqual([]);
    expect(newLines()).toEqual([]);
  });

  test("Subscriptions removes what is not wanted any more before it adds anything", () => {
    subscriptions.refresh([instance("b:1"), instance("c:1")]);
    streams.news;
    newLines();
    subscriptions.refresh([instance("a:1"), instance("c:1", { state: "SUSPECT" })]);
    expect(streams.news).toEqual(["remove b:1/0", "remove c:1/0", "add a:1/0 as 0"]);
    expect(newLines()).toEqual([
      "info Unsubscribed b:1 it is not registered",
      "info Unsubscribed c:1 it is SUSPECT",
      "info Subscribed a:1",
    ]);
    subscriptions.refresh([instance("a:1"), instance("c:1")]);
    expect(streams.news).toEqual(["add c:1/0 as 1"]);
  });

  const CHANGES: [field: string, fields: Parameters<typeof register>[1]][] = [
    ["incarnation", { incarnation: "other" }],
    ["address", { address: "x:1" }],
    ["block size", { blockSize: 16 }],
    ["hash seed", { hashSeed: 7 }],
    ["topic", { topic: "" }],
    ["CURVE key", { curveServerKey: "key" }],
    ["engine", { backend: "vllm" }],
    ["event endpoint", { eventEndpoints: ["tcp://x:1"] }],
    ["replay endpoint", { replayEndpoints: ["tcp://x:1"] }],
  ];
  test.each(CHANGES)("Subscriptions opens a stream anew whose %s has changed", (_field, fields) => {
    subscriptions.refresh([instance("a:1"), instance("b:1")]);
    streams.news;
    subscriptions.refresh([instance("a:1", fields), instance("b:1")]);
    expect(streams.news).toEqual(["remove a:1/0", "add a:1/0 as 0"]);
    expect(subscriptions.statusOf("a:1").streams).toEqual([streams.open.get(0) as StreamDescription]);
  });

  test("Subscriptions keeps the ranks that stay when an instance has more or fewer of them", () => {
    subscriptions.refresh([instance("a:1")]);
    subscriptions.refresh([instance("a:1", { dpSize: 3 })]);
    subscriptions.refresh([instance("a:1", { dpSize: 2 })]);
    expect(streams.news).toEqual(["add a:1/0 as 0", "add a:1/1 as 1", "add a:1/2 as 2", "remove a:1/2"]);
    expect(subscriptions.statusOf("a:1").streams.map(({ dpRank }) => dpRank)).toEqual([0, 1]);
  });

  test("Subscriptions gives the room of one that leaves to one that waited for it", () => {
    subscribe({ maxStreams: 1 });
    subscriptions.refresh([instance("a:1"), instance("b:1")]);
    expect(subscriptions.statusOf("b:1")).toEqual({ streams: [], excluded: "1 stream needed, 0 of max_streams 1 left" });
    subscriptions.refresh([instance("b:1")]);
    expect(streams.news).toEqual(["add a:1/0 as 0", "remove a:1/0", "add b:1/0 as 0"]);
    expect(subscriptions.statusOf("b:1")).toEqual({ streams: [streamOf("b:1")], excluded: null });
  });

  test("Subscriptions opens an instance's streams all or not at all, and tries again at the next refresh", () => {
    streams.max = 2;
    const instances = [instance("a:100"), instance("b:100", { dpSize: 2 })];
    subscriptions.refresh(instances);
    expect(subscriptions.statusOf("b:100")).toEqual({ streams: [], excluded: "no further stream can be opened" });
    expect([...streams.open.values()]).toEqual([streamOf("a:100")]);
    expect(newLines()).toEqual(["info Subscribed a:100", "warn Not subscribed b:100 no further stream can be opened"]);
    subscriptions.refresh(instances);
    expect(newLines()).toEqual([]);
    streams.max = 3;
    subscriptions.refresh(instances);
    expect(subscriptions.statusOf("b:100")).toMatchObject({ excluded: null });
    expect(newLines()).toEqual(["info Subscribed b:100"]);
  });

  test("Subscriptions closes the ranks that an instance has when there is no room for the one that it gains", () => {
    streams.max = 1;
    subscriptions.refresh([instance("a:1")]);
    subscriptions.refresh([instance("a:1", { dpSize: 2 })]);
    expect(streams.open.size).toBe(0);
    expect(subscriptions.statusOf("a:1")).toEqual({ streams: [], excluded: "no further stream can be opened" });
  });
});

describe("Subscriptions and static streams", () => {
  const listed = streamOf("s:1", { incarnation: "" });

  test("Subscriptions opens static streams whatever the fleet is, and never removes them", () => {
    subscribe({ staticStreams: [listed] });
    subscriptions.refresh([]);
    subscriptions.refresh([instance("s:1")]);
    subscriptions.drop("s:1");
    subscriptions.refresh([]);
    expect(streams.news).toEqual(["add s:1/0 as 0"]);
  });

  test("Subscriptions shows an instance its static streams, and why there are no others", () => {
    subscribe({ staticStreams: [listed] });
    subscriptions.refresh([instance("s:1")]);
    expect(subscriptions.statusOf("s:1")).toEqual({
      streams: [listed],
      excluded: "the KV events file lists streams under its name",
    });
  });
});

describe("Subscriptions drop", () => {
  test("Subscriptions removes a dropped instance's streams at once, and opens them anew for whoever comes under the name", () => {
    const instances = [instance("a:1"), instance("b:1")];
    subscriptions.refresh(instances);
    streams.news;
    newLines();
    subscriptions.drop("a:1");
    expect(streams.news).toEqual(["remove a:1/0"]);
    expect(newLines()).toEqual(["info Unsubscribed a:1 it is deregistered"]);
    expect(subscriptions.statusOf("a:1")).toEqual({ streams: [], excluded: "it has not been looked at yet" });
    subscriptions.refresh(instances);
    expect(streams.news).toEqual(["add a:1/0 as 0"]);
    expect(subscriptions.statusOf("a:1")).toMatchObject({ excluded: null });
  });

  test("Subscriptions drops what it never had without a word", () => {
    subscriptions.drop("nobody");
    expect([streams.news, newLines()]).toEqual([[], []]);
  });

  test("Subscriptions finds an endpoint's owner among instances that it has not been shown yet", () => {
    const own = { eventEndpoints: ["tcp://x:1"] };
    const instances = [instance("a:1", own)];
    expect(subscriptions.conflictOf(register("c:1", own), instances)).toEqual({ endpoint: "tcp://x:1", instanceName: "a:1" });
    expect(subscriptions.conflictOf(register("c:1", own), [])).toBeNull();
  });

  test("Subscriptions forgets a dropped instance's reason", () => {
    const instances = [instance("d:1", { currentRole: "DECODE" })];
    subscriptions.refresh(instances);
    subscriptions.drop("d:1");
    newLines();
    subscriptions.refresh(instances);
    expect(newLines().join()).toContain("info Not subscribed d:1 it works as DECODE");
  });
});

describe("Subscriptions' log", () => {
  test("Subscriptions logs why an instance is excluded once, and again when the reason is another", () => {
    const decode = instance("a:1", { currentRole: "DECODE" });
    subscriptions.refresh([decode]);
    subscriptions.refresh([decode]);
    subscriptions.refresh([instance("a:1", { address: "a:65000" })]);
    subscriptions.refresh([decode]);
    expect(newLines()).toEqual([
      "info Not subscribed a:1 it works as DECODE, whose blocks no other request can reuse",
      "error Not subscribed a:1 event port 75000 of rank 0 is beyond 65535",
      "info Not subscribed a:1 it works as DECODE, whose blocks no other request can reuse",
    ]);
  });

  test("Subscriptions does not log anew that there is no room when only the room left is another", () => {
    subscribe({ maxStreams: 3 });
    const wide = instance("z:100", { dpSize: 3 });
    subscriptions.refresh([instance("a:1"), wide]);
    subscriptions.refresh([instance("a:1"), instance("b:1"), wide]);
    expect(newLines().filter((line) => line.startsWith("warn"))).toEqual([
      "warn Not subscribed z:100 3 streams needed, 2 of max_streams 3 left",
    ]);
    expect(subscriptions.statusOf("z:100").excluded).toBe("3 streams needed, 1 of max_streams 3 left");
  });

  test("Subscriptions logs an overlap once with both sides, and again after it was gone", () => {
    const errors: LogFields[] = [];
    const logger = { info: () => {}, warn: () => {}, error: (_message: string, fields: LogFields = {}) => errors.push(fields) };
    subscriptions = new Subscriptions({ streams, rules: RULES, logger });
    const own = { dpSize: 2, eventEndpoints: ["tcp://x:1", "tcp://x:2"], replayEndpoints: ["tcp://x:3", "tcp://x:4"] };
    const both = [instance("a:1", own), instance("b:1", own)];
    for (const instances of [both, both, [instance("a:1", own)], both]) subscriptions.refresh(instances);
    const overlap = { endpoint: "tcp://x:1", first: 'instance "a:1"', second: 'instance "b:1"' };
    expect(errors).toEqual([overlap, overlap]);
    expect(streams.news).toEqual(["add a:1/0 as 0", "add a:1/1 as 1", "remove a:1/0", "remove a:1/1"]);
    expect(subscriptions.statusOf("b:1").excluded).toBe('endpoint "tcp://x:1" is also that of instance "a:1"');
  });

  test("Subscriptions says of a name that no refresh has had that it has not been looked at", () => {
    expect(subscriptions.statusOf("nobody")).toEqual({ streams: [], excluded: "it has not been looked at yet" });
  });
});
