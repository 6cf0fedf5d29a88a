import { expect, test } from "bun:test";
import { createJsonReceiver } from "../../src/http/json-body.ts";
import { SMALL_BODIES_BYTES_MAX } from "../../src/http/limits.ts";
import { Problem } from "../../src/http/problem.ts";

const encoder = new TextEncoder();

function requestOf(body: string | ReadableStream<Uint8Array>, headers: Record<string, string> = {}): Request {
  return new Request("http://localhost/", {
    method: "POST",
    body: typeof body === "string" ? encoder.encode(body) : body,
    headers,
  });
}

/** A body that arrives in these parts; `fail` breaks it off after them. */
function streamOf(parts: string[], { fail = false } = {}): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(encoder.encode(part));
      if (fail) controller.error(new Error("connection lost"));
      else controller.close();
    },
  });
}

async function problemOf(received: Promise<unknown>) {
  const error = await received.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problem)) throw new Error("Nothing was refused");
  return error.toDocument();
}

test.each([{}, { "content-length": "13" }])(
  "createJsonReceiver reads an object, its length announced or not: %j",
  async (headers) => {
    expect(await createJsonReceiver(13)(requestOf('{"a":[1,{}]} ', headers as Record<string, string>))).toEqual({ a: [1, {}] });
  },
);

test("createJsonReceiver puts a body together that arrives in parts", async () => {
  expect(await createJsonReceiver(100)(requestOf(streamOf(['{"na', 'me":"\u00e9', '"}'])))).toEqual({ name: "\u00e9" });
});

test("createJsonReceiver takes any name for a field", async () => {
  const fields = await createJsonReceiver(100)(requestOf('{"__proto__":{"a":1},"":2}'));
  expect(Object.entries(fields)).toEqual([
    ["__proto__", { a: 1 }],
    ["", 2],
  ]);
});

test("createJsonReceiver takes a body of the largest size and refuses one byte more", async () => {
  const receive = createJsonReceiver(8);
  expect(await receive(requestOf('{"a":10}'))).toEqual({ a: 10 });
  const refusal = (found: string) => ({ status: 413, detail: `Cannot read the body: found ${found}, at most 8 are allowed` });
  expect(await problemOf(receive(requestOf('{"a":100}')))).toMatchObject(refusal("9 bytes or more"));
  expect(await problemOf(receive(requestOf("{}", { "content-length": "9" })))).toMatchObject(refusal("9 bytes"));
});

test("createJsonReceiver reads no further than its limit", async () => {
  let parts = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      parts += 1;
      controller.enqueue(new Uint8Array(100));
    },
  });
  expect((await problemOf(createJsonReceiver(1000)(requestOf(endless)))).status).toBe(413);
  expect(parts).toBeLessThan(20);
});

test("createJsonReceiver refuses a body that breaks off", async () => {
  const problem = await problemOf(createJsonReceiver(100)(requestOf(streamOf(["{"], { fail: true }))));
  expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining("did not arrive whole") });
});

test("createJsonReceiver refuses what leaves no room for it, until the others have arrived", async () => {
  const receive = createJsonReceiver(SMALL_BODIES_BYTES_MAX / 2);
  const controllers: ReadableStreamDefaultController<Uint8Array>[] = [];
  const announced = { "content-length": String(SMALL_BODIES_BYTES_MAX / 2) };
  const pending = [0, 1].map(() =>
    receive(requestOf(new ReadableStream({ start: (controller) => void controllers.push(controller) }), announced)),
  );
  expect((await problemOf(receive(requestOf("{}")))).type).toBe("/problems/overloaded");
  for (const controller of controllers) {
    controller.enqueue(encoder.encode("{}"));
    controller.close();
  }
  expect(await Promise.all(pending)).toEqual([{}, {}]);
  expect(await receive(requestOf("{}"))).toEqual({});
});
