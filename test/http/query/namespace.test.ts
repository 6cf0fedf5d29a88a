import { expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import { type ExtraKey, extraKeyBytes, loraNameRoot } from "#domain";
import { createFakeApp } from "../fake-directory.ts";
import { readProblem } from "../read-answer.ts";

const root = loraNameRoot("adapter-a");
const keys = (...extraKeys: ExtraKey[]) => extraKeyBytes(extraKeys);
const picture = { identifier: "3f9c", offset: -16 };

test.each([
  ["an adapter", { lora_name: "adapter-a" }, { root, extraKeys: null }],
  ["a salt", { cache_salt: "tenant-a" }, { root: null, extraKeys: [keys("tenant-a")] }],
  ["both", { lora_name: "adapter-a", cache_salt: "tenant-a" }, { root, extraKeys: [keys("tenant-a")] }],
  [
    "keys of some blocks",
    { extra_keys: [null, [["3f9c", -16], "older"], []] },
    { root: null, extraKeys: [null, keys(picture, "older"), null] },
  ],
  [
    "a salt behind the keys of block 0",
    { cache_salt: "tenant-a", extra_keys: [[["3f9c", -16]], ["later"]] },
    { root: null, extraKeys: [keys(picture, "tenant-a"), keys("later")] },
  ],
  [
    "a salt where block 0 has no keys",
    { cache_salt: "s", extra_keys: [null, ["k"]] },
    { root: null, extraKeys: [keys("s"), keys("k")] },
  ],
  ["a salt where no block is listed", { cache_salt: "s", extra_keys: [] }, { root: null, extraKeys: [keys("s")] }],
  ["an adapter with blocks without keys", { lora_name: "adapter-a", extra_keys: [null, []] }, { root, extraKeys: null }],
  ["empty texts", { lora_name: "", cache_salt: "" }, null],
  ["blocks without keys", { extra_keys: [null, [], null] }, null],
  ["an empty list of blocks", { extra_keys: [] }, null],
])("The query route matches under the namespace of %s, in JSON and MessagePack alike", async (_, fields, namespace) => {
  const { directory, post } = createFakeApp();
  const query = { token_ids: [1], ...fields };
  expect((await post(JSON.stringify(query))).status).toBe(200);
  expect((await post(encode(query), "application/msgpack")).status).toBe(200);
  expect(directory.asked.map((asked) => asked.namespace)).toEqual([namespace, namespace]);
});

test.each([
  ["?lora_name=adapter-a&cache_salt=tenant-a", { root, extraKeys: [keys("tenant-a")] }],
  ["?lora_name=adapter-a&cache_salt=", { root, extraKeys: null }],
  ["?cache_salt=a%2Cb%26c", { root: null, extraKeys: [keys("a,b&c")] }],
  ["?lora_name=&cache_salt=", null],
])("The query route reads the namespace of a binary body from %s", async (query, namespace) => {
  const { directory, post } = createFakeApp();
  expect((await post(new Uint8Array(4), "application/octet-stream", query)).status).toBe(200);
  expect(directory.asked.map((asked) => asked.namespace)).toEqual([namespace]);
});

const TEXT = "a string of at most 4096 characters is allowed";
const KEY_TEXT = "a nonempty string of at most 4096 characters is allowed";
const KEY = "a nonempty string of at most 4096 characters or [string, integer] is allowed";
const OFFSET = "an integer that a double holds exactly is allowed";
const BLOCK = "null or at most 64 keys are allowed for a block";
const BLOCKS = "an array of at most 65536 blocks is allowed, in JSON and MessagePack bodies only";
const long = "x".repeat(4097);
const longFound = `"${"x".repeat(63)}…`;

test.each([
  ["/lora_name", `found 7, ${TEXT}`, { lora_name: 7 }],
  ["/lora_name", `found ${longFound}, ${TEXT}`, { lora_name: long }],
  ["/cache_salt", `found ["s"], ${TEXT}`, { cache_salt: ["s"] }],
  ["/cache_salt", `found ${longFound}, ${TEXT}`, { cache_salt: long }],
  ["/extra_keys", `found "k", ${BLOCKS}`, { extra_keys: "k" }],
  ["/extra_keys", `found {"0":["k"]}, ${BLOCKS}`, { extra_keys: { 0: ["k"] } }],
  ["/extra_keys/1", `found "k", ${BLOCK}`, { extra_keys: [null, "k"] }],
  ["/extra_keys/0", `found ["k"${',"k"'.repeat(15)}…, ${BLOCK}`, { extra_keys: [new Array(65).fill("k")] }],
  ["/extra_keys/0/1", `found 5, ${KEY}`, { extra_keys: [["k", 5]] }],
  ["/extra_keys/0/1", `found null, ${KEY}`, { extra_keys: [["k", null]] }],
  ["/extra_keys/0/0", `found "", ${KEY}`, { extra_keys: [[""]] }],
  ["/extra_keys/0/0", `found ${longFound}, ${KEY}`, { extra_keys: [[long]] }],
  ["/extra_keys/0/0", `found ["k"], ${KEY}`, { extra_keys: [[["k"]]] }],
  ["/extra_keys/0/0", `found ["k",1,2], ${KEY}`, { extra_keys: [[["k", 1, 2]]] }],
  ["/extra_keys/2/0/0", `found "", ${KEY_TEXT}`, { extra_keys: [null, [], [["", 1]]] }],
  ["/extra_keys/0/0/1", `found "16", ${OFFSET}`, { extra_keys: [[["k", "16"]]] }],
  ["/extra_keys/0/0/1", `found 1.5, ${OFFSET}`, { extra_keys: [[["k", 1.5]]] }],
  ["/extra_keys/0/0/1", `found 9007199254740992, ${OFFSET}`, { extra_keys: [[["k", 2 ** 53]]] }],
])("The query route refuses %s in JSON and MessagePack alike: %s", async (pointer, detail, fields) => {
  const { directory, post } = createFakeApp();
  const query = { token_ids: [1], ...fields };
  for (const response of [await post(JSON.stringify(query)), await post(encode(query), "application/msgpack")]) {
    expect(response.status).toBe(422);
    expect((await readProblem(response)).errors).toEqual([{ pointer, detail }]);
  }
  expect(directory.asked).toEqual([]);
});

test("The query route takes texts, keys and blocks up to their limits", async () => {
  const { directory, post } = createFakeApp();
  const text = long.slice(1);
  const fields = { lora_name: text, cache_salt: text, extra_keys: [new Array(64).fill([text, Number.MAX_SAFE_INTEGER])] };
  expect((await post(JSON.stringify({ token_ids: [1], ...fields }))).status).toBe(200);
  expect(directory.asked[0]?.namespace?.extraKeys).toHaveLength(1);
});

test("The query route takes extra keys of 65,536 blocks, and refuses one more", async () => {
  const { post } = createFakeApp();
  const body = (blocks: number) => encode({ token_ids: [1], extra_keys: new Array(blocks).fill(null) });
  expect((await post(body(65_536), "application/msgpack")).status).toBe(200);
  const response = await post(body(65_537), "application/msgpack");
  expect(response.status).toBe(422);
  expect((await readProblem(response)).errors?.map(({ pointer }) => pointer)).toEqual(["/extra_keys"]);
});

test("The query route refuses extra keys beside a binary body, which has no form for them", async () => {
  const { directory, post } = createFakeApp();
  const response = await post(new Uint8Array(4), "application/octet-stream", "?extra_keys=k");
  expect(response.status).toBe(422);
  expect((await readProblem(response)).errors).toEqual([{ pointer: "/extra_keys", detail: `found "k", ${BLOCKS}` }]);
  expect(directory.asked).toEqual([]);
});

test("The query route names at most sixteen wrong blocks", async () => {
  const response = await createFakeApp().post(JSON.stringify({ token_ids: [1], extra_keys: new Array(100).fill(7) }));
  expect((await readProblem(response)).errors?.map(({ pointer }) => pointer)).toEqual(
    Array.from({ length: 16 }, (_, block) => `/extra_keys/${block}`),
  );
});
