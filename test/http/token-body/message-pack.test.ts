import { expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { decodeObject } from "../../../src/http/token-body/decoded-body.ts";
import { messagePackForm } from "../../../src/http/token-body/message-pack.ts";
import { caughtProblem } from "../caught-problem.ts";

const tokens = new Uint32Array(64);
const nameBytes = [0xa9, ...new TextEncoder().encode("token_ids")];

function decode(body: Uint8Array) {
  tokens.fill(0xdead_beef);
  const { tokenCount, fields } = decodeObject(messagePackForm, body, tokens);
  return { tokens: [...tokens.subarray(0, tokenCount)], fields };
}

/** A map whose only field, token_ids, has these bytes as its value. */
function bodyOf(...value: number[]): Uint8Array {
  return new Uint8Array([0x81, ...nameBytes, ...value]);
}

/** The library refuses the key "__proto__", which is the safe thing to do. */
const anyNote = fc
  .json({ maxDepth: 3 })
  .filter((text) => !text.includes("__proto__"))
  // A negative zero would come back as zero: MessagePack's integers have none.
  .map((text) => JSON.parse(text.replaceAll("-0", "0")) as unknown);

const anyBody = fc
  .record({ tokens: fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { maxLength: 32 }), note: anyNote })
  .map(({ tokens: token_ids, note }) => ({ token_ids, note }));

test("messagePackForm reads what the library encodes", () => {
  fc.assert(
    fc.property(anyBody, fc.boolean(), (body, noteFirst) => {
      const { token_ids, note } = body;
      const bytes = encode(noteFirst ? { note, token_ids } : body);
      expect(decode(bytes)).toEqual({ tokens: token_ids, fields: { note } });
    }),
  );
});

test("messagePackForm refuses a body cut off at any byte as malformed", () => {
  fc.assert(
    fc.property(anyBody, (body) => {
      const bytes = encode(body);
      for (let length = 0; length < bytes.length; length++) {
        expect(caughtProblem(() => decode(bytes.subarray(0, length))).status).toBe(400);
      }
    }),
    { numRuns: 30 },
  );
});

test.each([
  ["positive fixint", [0x7f], 127],
  ["uint 8", [0xcc, 0xff], 255],
  ["uint 16", [0xcd, 0x01, 0x02], 258],
  ["uint 32", [0xce, 0xff, 0xff, 0xff, 0xff], 0xffff_ffff],
  ["uint 64", [0xcf, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], 0xffff_ffff],
  ["int 8", [0xd0, 0x7f], 127],
  ["int 16", [0xd1, 0x01, 0x02], 258],
  ["int 32", [0xd2, 0x7f, 0xff, 0xff, 0xff], 0x7fff_ffff],
  ["int 64", [0xd3, 0, 0, 0, 0, 0, 0, 0, 5], 5],
])("messagePackForm reads a token written as %s, in the middle and at the end", (_, bytes, token) => {
  expect(decode(bodyOf(0x93, ...bytes, ...bytes, ...bytes)).tokens).toEqual([token, token, token]);
});

test.each([
  ["-1", [0xff]],
  ["-1", [0xd0, 0xff]],
  ["4294967296", [0xcf, 0, 0, 0, 1, 0, 0, 0, 0]],
  ["float 1.5", [0xca, 0x3f, 0xc0, 0, 0]],
  ["float 1", [0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]],
  ['"7"', [0xa1, 0x37]],
  ["null", [0xc0]],
  ["true", [0xc3]],
  ["[1]", [0x91, 1]],
])("messagePackForm names the place of the element %s, which is not a token", (found, bytes) => {
  const { status, errors } = caughtProblem(() => decode(bodyOf(0x93, 1, ...bytes, 2)));
  expect(status).toBe(422);
  expect(errors).toEqual([
    { pointer: "/token_ids/1", detail: `found ${found}, allowed are plain integers from 0 to 4294967295`, offset: 13 },
  ]);
});

test.each([0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3])(
  "messagePackForm refuses a last token cut off within format 0x%x as malformed",
  (head) => {
    const { status, errors } = caughtProblem(() => decode(bodyOf(0x92, 1, head)));
    expect(status).toBe(400);
    expect(errors?.[0]?.offset).toBe(13);
  },
);

test("messagePackForm reads a bin of u32 little-endian at any alignment", () => {
  const bytes = new Uint8Array(new Uint32Array([1, 70_000, 0xffff_ffff]).buffer);
  expect(decode(encode({ token_ids: bytes, note: "x" }))).toEqual({ tokens: [1, 70_000, 0xffff_ffff], fields: { note: "x" } });
});

test.each([
  ["a bin of 3 bytes, a multiple of 4 is needed", [0xc4, 3, 1, 2, 3]],
  ['"ab", an array of integers or a bin of u32 little-endian is needed', [0xa2, 0x61, 0x62]],
  ["null, an array of integers or a bin of u32 little-endian is needed", [0xc0]],
  ["{}, an array of integers or a bin of u32 little-endian is needed", [0x80]],
])("messagePackForm refuses token_ids that is %s", (detail, bytes) => {
  const { status, errors } = caughtProblem(() => decode(bodyOf(...bytes)));
  expect(status).toBe(422);
  expect(errors).toEqual([{ pointer: "/token_ids", detail: `found ${detail}`, offset: 11 }]);
});

test("messagePackForm refuses a map without token_ids", () => {
  expect(caughtProblem(() => decode(encode({ note: 1 }))).status).toBe(422);
});

test.each([
  ["an array", [0x90], 0],
  ["a single value", [0x07], 0],
  ["the byte that begins no value", [0xc1], 0],
  ["a key that is no string", [0x81, 0x01, 0x01], 1],
  ["a field twice", [0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2], 4],
  ["token_ids twice", [0x82, ...nameBytes, 0x90, ...nameBytes, 0x90], 12],
  ["bytes after the map", [0x81, ...nameBytes, 0x90, 0x00], 12],
  ["a nested map with an array as key", [0x81, 0xa1, 0x61, 0x81, 0x90, 0x01], 3],
])("messagePackForm refuses %s as malformed at its byte", (_, bytes, offset) => {
  const { status, errors } = caughtProblem(() => decode(new Uint8Array(bytes)));
  expect(status).toBe(400);
  expect(errors?.[0]?.offset).toBe(offset);
});

test("messagePackForm refuses an array that announces more values than there are bytes, before anything is reserved", () => {
  const { status, detail } = caughtProblem(() => decode(new Uint8Array([0x81, 0xa1, 0x61, 0xdd, 0xff, 0xff, 0xff, 0xff, 0x01])));
  expect(status).toBe(400);
  expect(detail).toBe(
    "Cannot decode the MessagePack body at byte 3: the body is cut off, found 1 more bytes, at least 4294967295 are needed",
  );
});

test("messagePackForm refuses nested arrays that together announce more than there is", () => {
  const nested = Array.from({ length: 1000 }, () => [0xdc, 0x01, 0x00]).flat();
  expect(caughtProblem(() => decode(new Uint8Array([0x81, 0xa1, 0x61, ...nested]))).status).toBe(400);
});

test("messagePackForm fills token memory to its last place and refuses one token more", () => {
  const full = Array.from({ length: tokens.length }, (_, index) => index);
  expect(decode(encode({ token_ids: full })).tokens).toEqual(full);
  for (const token_ids of [[...full, 1], new Uint8Array(4 * 65)]) {
    const { status, detail } = caughtProblem(() => decode(encode({ token_ids })));
    expect(status).toBe(413);
    expect(detail).toBe("Cannot match the prompt: found 65 tokens, at most 64 are allowed");
  }
});
