import { expect, test } from "bun:test";
import { decodeBinaryBody } from "../../../src/http/token-body/binary.ts";
import { caughtProblem } from "../caught-problem.ts";

const tokens = new Uint32Array(8);

function decode(body: number[], query = "") {
  const { tokenCount, fields } = decodeBinaryBody(new Uint8Array(body), new URLSearchParams(query), tokens);
  return { tokens: [...tokens.subarray(0, tokenCount)], fields };
}

test("decodeBinaryBody reads u32 little-endian tokens", () => {
  expect(decode([1, 0, 0, 0, 0, 1, 0, 0, 255, 255, 255, 255]).tokens).toEqual([1, 256, 0xffff_ffff]);
});

test("decodeBinaryBody takes an empty body for an empty prompt", () => {
  expect(decode([])).toEqual({ tokens: [], fields: {} });
});

test.each([1, 2, 3, 5])("decodeBinaryBody refuses %d bytes, which end within a token", (length) => {
  const { status, errors } = caughtProblem(() => decode(new Array(length).fill(0)));
  expect(status).toBe(400);
  expect(errors).toEqual([{ detail: `found ${length} bytes, a multiple of 4 is needed`, offset: length < 4 ? 0 : 4 }]);
});

test("decodeBinaryBody refuses more tokens than fit and names both counts", () => {
  const { status, detail } = caughtProblem(() => decode(new Array(36).fill(0)));
  expect(status).toBe(413);
  expect(detail).toBe("Cannot match the prompt: found 9 tokens, at most 8 are allowed");
});

test.each([
  ["instance_names=a,b", { instance_names: ["a", "b"] }],
  ["instance_names=a&instance_names=b,c", { instance_names: ["a", "b", "c"] }],
  ["instance_names=10.0.0.5%3A8000", { instance_names: ["10.0.0.5:8000"] }],
  ["instance_names=", { instance_names: [""] }],
  ["instance_names=a,,b", { instance_names: ["a", "", "b"] }],
  ["lora_name=x&other=1", { lora_name: "x", other: "1" }],
])("decodeBinaryBody makes fields of the parameters %s", (query, fields) => {
  expect(decode([], query).fields).toEqual(fields);
});

test("decodeBinaryBody refuses a parameter of one value that is there twice", () => {
  const { status, errors } = caughtProblem(() => decode([], "lora_name=x&lora_name=y"));
  expect(status).toBe(422);
  expect(errors).toEqual([{ pointer: "/lora_name", detail: "found the parameter 2 times, once is allowed" }]);
});
