import { expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { type BodyForm, decodeTokenBody } from "../../../src/http/token-body/mod.ts";
import { caughtProblem } from "../caught-problem.ts";

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
/** Shared memory that does not begin at 0, as in the service. */
const tokens = new Uint32Array(memory.buffer, 64, 1024);

function decode(form: BodyForm, bytes: Uint8Array, query = "") {
  tokens.fill(0xdead_beef);
  const { tokenCount, fields } = decodeTokenBody({ form, bytes, query: new URLSearchParams(query) }, tokens);
  return { tokens: [...tokens.subarray(0, tokenCount)], fields, next: tokens[tokenCount] };
}

test("decodeTokenBody gives the same tokens and fields for every form, and writes nothing beyond them", () => {
  const anyTokens = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { maxLength: 200 });
  const anyNames = fc.array(fc.stringMatching(/^[a-z0-9.:]{1,12}$/), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(anyTokens, anyNames, (token_ids, instance_names) => {
      const binary = new Uint8Array(new Uint32Array(token_ids).buffer);
      const expected = { tokens: token_ids, fields: { instance_names }, next: 0xdead_beef };
      expect(decode("json", new TextEncoder().encode(JSON.stringify({ token_ids, instance_names })))).toEqual(expected);
      expect(decode("message-pack", encode({ token_ids, instance_names }))).toEqual(expected);
      expect(decode("message-pack", encode({ token_ids: binary, instance_names }))).toEqual(expected);
      const query = new URLSearchParams({ instance_names: instance_names.join(",") }).toString();
      expect(decode("binary", binary, query)).toEqual(expected);
    }),
  );
});

test.each(["json", "message-pack"] as const)("decodeTokenBody refuses an empty %s body", (form) => {
  const { status, detail } = caughtProblem(() => decode(form, new Uint8Array(0)));
  expect(status).toBe(400);
  expect(detail).toBe("Cannot decode the body: found no bytes, an object with token_ids is needed");
});

test.each(["json", "message-pack"] as const)("decodeTokenBody refuses query parameters beside a %s body", (form) => {
  const { status, errors } = caughtProblem(() => decode(form, new Uint8Array(0), "instance_names=a"));
  expect(status).toBe(422);
  expect(errors?.[0]?.pointer).toBe("/instance_names");
});
