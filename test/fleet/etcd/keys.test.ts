import { describe, expect, test } from "bun:test";
import { namespacePrefix, readKey, registryRange } from "../../../src/fleet/etcd/keys.ts";

const PREFIX = "/a/";

function read(key: string | Uint8Array) {
  return readKey(Buffer.concat([Buffer.from(PREFIX), Buffer.from(key as string)]), PREFIX.length);
}

function isInRange(key: string | Uint8Array, prefix = ""): boolean {
  const { start, end } = registryRange(prefix);
  const bytes = Buffer.from(key as string);
  return Buffer.compare(bytes, start) >= 0 && Buffer.compare(bytes, end) < 0;
}

describe("namespacePrefix", () => {
  test.each([
    ["", ""],
    ["/", ""],
    ["a", "/a/"],
    ["/a", "/a/"],
    ["a/", "/a/"],
    ["/a/", "/a/"],
    ["/a/b/", "/a/b/"],
  ])("namespacePrefix makes of %j the prefix %j", (namespace, prefix) => {
    expect(namespacePrefix(namespace)).toBe(prefix);
  });
});

describe("registryRange", () => {
  test("registryRange holds the five kinds of keys and neither caches nor services", () => {
    for (const kind of ["DEFAULT", "PREFILL", "DECODE", "MIX", "LOADMETRICS"]) {
      expect(isInRange(`XLLM:${kind}:10.0.0.5:8000`)).toBe(true);
      expect(isInRange(`/a/XLLM:${kind}:10.0.0.5:8000`, "/a/")).toBe(true);
      expect(isInRange(`/a/XLLM:${kind}:10.0.0.5:8000`)).toBe(false);
      expect(isInRange(`XLLM:${kind}:10.0.0.5:8000`, "/a/")).toBe(false);
    }
    expect(isInRange(Buffer.concat([Buffer.from("XLLM:CACHE:"), Buffer.alloc(16, 0xff)]))).toBe(false);
    for (const key of ["XLLM:SERVICE:MASTER", "XLLM:SERVICE:10.0.0.1:8889", "XLLM_PING"]) expect(isInRange(key)).toBe(false);
  });
});

describe("readKey", () => {
  test.each(["DEFAULT", "PREFILL", "DECODE", "MIX"] as const)("readKey reads the instance under %s", (role) => {
    expect(read(`XLLM:${role}:10.0.0.5:8000`)).toEqual({ kind: "instance", role, name: "10.0.0.5:8000" });
  });

  test("readKey reads the instance that a load belongs to", () => {
    expect(read("XLLM:LOADMETRICS:[::1]:8000")).toEqual({ kind: "load", name: "[::1]:8000" });
  });

  test.each(["XLLM:E", "XLLM:DEFAULT", "XLLM:MIXED:a:1", "XLLM:D\0:a:1", "", "xllm:mix:a:1"])(
    "readKey knows nothing of %j",
    (key) => {
      expect(read(key)).toEqual({ kind: "unknown" });
    },
  );

  test("readKey refuses names that cannot be shown", () => {
    for (const name of ["", "a\0b:1", "a b:1", "a\u200bb:1", "a\n:1", "x".repeat(260)]) {
      expect(read(`XLLM:MIX:${name}`)).toEqual({ kind: "unreadable-name" });
    }
    const notUtf8 = Buffer.concat([Buffer.from("XLLM:MIX:a"), Buffer.of(0xff, 0xfe)]);
    expect(read(notUtf8)).toEqual({ kind: "unreadable-name" });
    expect(read("XLLM:MIX:größe:1")).toEqual({ kind: "instance", role: "MIX", name: "größe:1" });
  });
});
