import { expect, test } from "bun:test";
import { BodyBudget } from "../../../src/http/body-budget.ts";
import { BODY_BYTES_MAX, PROMPT_BODIES_BYTES_MAX } from "../../../src/http/limits.ts";
import { Problem } from "../../../src/http/problem.ts";
import { receiveTokenBody } from "../../../src/http/token-body/mod.ts";

function request(body: string | Uint8Array<ArrayBuffer> | ReadableStream, headers: Record<string, string> = {}): Request {
  return new Request("http://localhost/?a=1&b=2", {
    method: "POST",
    body,
    headers: { "content-type": "application/octet-stream", ...headers },
  });
}

/** The refusal's status, 0 when there was none. */
async function statusOf(refused: Request): Promise<number> {
  const error = await receiveTokenBody(refused, new BodyBudget(PROMPT_BODIES_BYTES_MAX)).then(
    () => null,
    (reason) => reason,
  );
  if (error !== null && !(error instanceof Problem)) throw error;
  return error?.toDocument().status ?? 0;
}

test("receiveTokenBody gives the form, the bytes and the query parameters", async () => {
  const { form, bytes, query } = await receiveTokenBody(
    request(new Uint8Array([1, 2, 3, 4])),
    new BodyBudget(PROMPT_BODIES_BYTES_MAX),
  );
  expect(form).toBe("binary");
  expect([...bytes]).toEqual([1, 2, 3, 4]);
  expect([...query]).toEqual([
    ["a", "1"],
    ["b", "2"],
  ]);
});

test("receiveTokenBody leaves a body unread that is announced too long or has another type", async () => {
  const tooLong = request("abcd", { "content-length": String(BODY_BYTES_MAX + 1) });
  expect(await statusOf(tooLong)).toBe(413);
  expect(tooLong.bodyUsed).toBe(false);
  const otherType = request("abcd", { "content-type": "text/plain" });
  expect(await statusOf(otherType)).toBe(415);
  expect(otherType.bodyUsed).toBe(false);
});

test("receiveTokenBody takes a body of the largest size and refuses one byte more, announced or not", async () => {
  expect(await statusOf(request(new Uint8Array(BODY_BYTES_MAX)))).toBe(0);
  expect(await statusOf(request(new Uint8Array(BODY_BYTES_MAX + 1)))).toBe(413);
});

test("receiveTokenBody refuses a body that breaks off", async () => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error("connection lost")) });
  expect(await statusOf(request(body))).toBe(400);
});
