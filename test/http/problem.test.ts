import { expect, test } from "bun:test";
import { excerpt, fieldPointer, Problem } from "../../src/http/problem.ts";

test("Problem answers with its kind's status, its headers and no empty list of errors", async () => {
  const response = new Problem("busy", { detail: "Cannot", headers: { "retry-after": "1" } }).toResponse();
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await response.text()).toBe('{"type":"/problems/busy","title":"The directory is busy","status":503,"detail":"Cannot"}');
});

test("Problem keeps the error beneath out of its document", () => {
  const cause = new Error("inner");
  const problem = new Problem("malformed-body", { detail: "Cannot", cause });
  expect(problem.cause).toBe(cause);
  expect(JSON.stringify(problem.toDocument())).not.toContain("inner");
});

test.each([
  ["text", '"text"'],
  [null, "null"],
  [undefined, "undefined"],
  [Number.NaN, "NaN"],
  [{ a: [1] }, '{"a":[1]}'],
  [new Uint8Array(5), "5 bytes"],
  ["x".repeat(100), `"${"x".repeat(63)}…`],
])("excerpt shows %p as %s", (found, text) => {
  expect(excerpt(found)).toBe(text);
});

test("fieldPointer escapes what RFC 6901 reserves", () => {
  expect(fieldPointer("a/b~c")).toBe("/a~1b~0c");
});
