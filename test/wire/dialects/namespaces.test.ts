import { describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { type ExtraKey, extraKeyBytes, loraIdRoot, loraNameRoot, type Namespace } from "#domain";
import { dialectOf } from "#wire";
import { decodeEvents, decodePayload } from "./decode.ts";

const PARENT = 9n;
const stored = (hashes: number, fields: object, parent: bigint | null = null) => ({
  type: "BlockStored",
  block_hashes: Array.from({ length: hashes }, (_, index) => BigInt(index)),
  parent_block_hash: parent,
  token_ids: Array.from({ length: hashes }, (_, index) => index),
  block_size: 1,
  ...fields,
});
const keys = (...list: ExtraKey[]) => extraKeyBytes(list);

describe.each([{ engine: "vllm" }, { engine: "sglang" }] as const)("$engine's dialect", ({ engine }) => {
  const dialect = dialectOf(engine);

  /** The namespace of one store, null for plain text, or why it was skipped. */
  const namespaceOf = (event: unknown): Namespace | null | string => {
    const [found] = decodeEvents(dialect, event);
    if (typeof found === "object" && "stored" in found) return found.namespace ?? null;
    return typeof found === "object" && "skipped" in found ? found.skipped : String(found);
  };

  test.each([
    ["nothing", {}],
    ["nil everywhere", { lora_id: null, lora_name: null, cache_salt: null, extra_keys: null }],
    ["empty values", { lora_id: 0, lora_name: "", cache_salt: "", extra_keys: [] }],
    ["no key for any block", { extra_keys: [null, []] }],
    ["no key for any block, of another number of blocks", { extra_keys: [null] }],
    ["metadata without salt", { lora_name: { cache_salt: null, other: "x" } }],
    ["another thing in the name's place", { lora_name: ["full", "swa"] }],
  ])("Dialect takes a store that says %s for plain text", (_name, fields) => {
    expect(namespaceOf(stored(2, fields))).toBeNull();
  });

  test("Dialect roots a chain in its adapter's name, else in its number", () => {
    expect(namespaceOf(stored(1, { lora_id: 3, lora_name: "adapter-a" }))).toEqual({
      root: loraNameRoot("adapter-a"),
      extraKeys: null,
    });
    expect(namespaceOf(stored(1, { lora_id: 3 }, PARENT))).toEqual({ root: loraIdRoot(3), extraKeys: null });
    expect(namespaceOf(stored(1, { lora_id: -3, lora_name: "" }))).toEqual({ root: loraIdRoot(-3), extraKeys: null });
  });

  test("Dialect gives every block its own extra keys", () => {
    const digest = new Uint8Array(32).fill(7);
    const odd = { nested: [1, null] };
    const extra_keys = [["image-a", ["image-b", -4]], null, [digest, 12, odd, ["a", "b"], ["c", 1.5]], []];
    expect(namespaceOf(stored(4, { extra_keys }, PARENT))).toEqual({
      root: null,
      extraKeys: [
        keys("image-a", { identifier: "image-b", offset: -4 }),
        null,
        keys({ digest }, ...[12, odd, ["a", "b"], ["c", 1.5]].map((value) => ({ packed: encode(value) }))),
        null,
      ],
    });
  });

  test("Dialect strips the adapter's name from every block's keys, once", () => {
    const extra_keys = [["adapter-a", "adapter-a", "salt-1"], ["adapter-a"], ["image-a", "adapter-a"]];
    expect(namespaceOf(stored(3, { lora_name: "adapter-a", extra_keys }))).toEqual({
      root: loraNameRoot("adapter-a"),
      extraKeys: [keys("adapter-a", "salt-1"), null, keys("image-a")],
    });
    expect(namespaceOf(stored(1, { lora_name: "adapter-a", extra_keys: [["adapter-a"]] }))).toEqual({
      root: loraNameRoot("adapter-a"),
      extraKeys: null,
    });
  });

  test("Dialect finds the same salt as an extra key, as a field and as metadata", () => {
    const salted = { root: null, extraKeys: [keys("tenant-a"), null] };
    expect(namespaceOf(stored(2, { extra_keys: [["tenant-a"], null] }))).toEqual(salted);
    expect(namespaceOf(stored(2, { cache_salt: "tenant-a" }))).toEqual(salted);
    const metadata = { other: [1], cache_salt: "tenant-a", 7: null };
    expect(namespaceOf(stored(2, { lora_name: metadata }))).toEqual(salted);
    expect(namespaceOf(["BlockStored", [1n, 2n], null, [7, 8], 1, null, "GPU", metadata])).toEqual(salted);
    expect(namespaceOf(stored(2, { cache_salt: "tenant-a", lora_name: {} }))).toEqual(salted);
  });

  test("Dialect puts a salt behind the other keys of a root, and lets children inherit it", () => {
    const fields = { lora_name: "adapter-a", cache_salt: "tenant-a", extra_keys: [["adapter-a", ["image", 0]], null] };
    const item = { identifier: "image", offset: 0 };
    const root = loraNameRoot("adapter-a");
    expect(namespaceOf(stored(2, fields))).toEqual({ root, extraKeys: [keys(item, "tenant-a"), null] });
    expect(namespaceOf(stored(2, fields, PARENT))).toEqual({ root, extraKeys: [keys(item), null] });
    expect(namespaceOf(stored(1, { cache_salt: "tenant-a" }, PARENT))).toBeNull();
    expect(namespaceOf(stored(0, { cache_salt: "tenant-a" }))).toBeNull();
  });

  test.each([
    ["an adapter's number that is text", { lora_id: "3" }],
    ["an adapter's number beyond 2^53", { lora_id: 2n ** 53n }],
    ["a salt that is a number", { cache_salt: 7 }],
    ["a salt that is a number, as metadata", { lora_name: { cache_salt: 7 } }],
    ["extra keys that are no list", { extra_keys: "tenant-a" }],
    ["extra keys of a block that are no list", { extra_keys: ["tenant-a"] }],
    ["extra keys for other blocks than it has", { extra_keys: [["tenant-a"], null] }],
  ])("Dialect never takes a store for plain text that has %s", (_name, fields) => {
    expect(namespaceOf(stored(1, fields))).not.toBeNull();
  });

  test("Dialect calls a store malformed whose namespace cannot be read, and reads on behind it", () => {
    const unreadable = [{ lora_id: "3" }, { cache_salt: 7 }, { extra_keys: [null, 5] }, { extra_keys: [["a"], null, null] }];
    const malformed = { skipped: "malformed-event" } as const;
    const events = decodeEvents(dialect, ...unreadable.map((fields) => stored(2, fields)), ["AllBlocksCleared"]);
    expect(events).toEqual([...unreadable.map(() => malformed), "cleared"]);
  });

  test("Dialect takes a byte order mark for a part of the name", () => {
    expect(namespaceOf(stored(1, { lora_name: "\ufeffa" }))).toEqual({ root: loraNameRoot("\ufeffa"), extraKeys: null });
  });

  test("Dialect never makes two different names equal that are not UTF-8", () => {
    const withByte = (byte: number, fields: object) =>
      encode([0, [stored(1, fields)]], { useBigInt64: true }).map((old) => (old === "?".charCodeAt(0) ? byte : old));
    const eventsWith = (byte: number, fields: object) => decodePayload(dialect, withByte(byte, fields)).events;
    for (const byte of [0x80, 0xff]) {
      expect(eventsWith(byte, { lora_name: "?" })).toEqual([{ skipped: "malformed-event" }]);
      expect(eventsWith(byte, { cache_salt: "?" })).toEqual([{ skipped: "malformed-event" }]);
    }
    const keyed = { extra_keys: [["?"]] };
    expect(eventsWith(0x80, keyed)).toMatchObject([{ stored: [0n] }]);
    expect(eventsWith(0x80, keyed)).not.toEqual(eventsWith(0xff, keyed));
  });

  test("Dialect ignores the namespace of a removal", () => {
    const removed = { type: "BlockRemoved", block_hashes: [1n], lora_name: "adapter-a", extra_keys: 7 };
    expect(decodeEvents(dialect, removed)).toEqual([{ removed: [1n], tier: "device" }]);
  });

  test("Dialect gives different extra keys different bytes", () => {
    const key = fc.oneof(
      fc.string(),
      fc.tuple(fc.string(), fc.integer()),
      fc.uint8Array({ maxLength: 8 }),
      fc.integer(),
      fc.boolean(),
    );
    const list = fc.array(key, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(list, list, (one, other) => {
        const bytes = [one, other].map((extra) => JSON.stringify(namespaceOf(stored(1, { extra_keys: [extra] }))));
        expect(bytes[0] === bytes[1]).toBe(Bun.deepEquals(encode(one), encode(other)));
      }),
    );
  });
});
