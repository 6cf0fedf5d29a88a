import { expect, test } from "bun:test";
import { BodyBudget } from "../../src/http/body-budget.ts";
import { Problem } from "../../src/http/problem.ts";

const done = async () => "read";

async function refusal(body: Promise<unknown>): Promise<number> {
  const error = await body.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof Problem ? error.toDocument().status : 0;
}

test("BodyBudget refuses a body for which the others leave no room, until one of them has ended", async () => {
  const budget = new BodyBudget(100);
  const first = Promise.withResolvers<string>();
  const reading = budget.withRoom(60, () => first.promise);
  expect(await budget.withRoom(40, done)).toBe("read");
  expect(await refusal(budget.withRoom(41, done))).toBe(503);
  first.resolve("read");
  await reading;
  expect(await budget.withRoom(100, done)).toBe("read");
});

test("BodyBudget gives the room of a body back that did not arrive whole", async () => {
  const budget = new BodyBudget(100);
  await expect(budget.withRoom(100, () => Promise.reject(new Error("cut off")))).rejects.toThrow("cut off");
  expect(await budget.withRoom(100, done)).toBe("read");
});

test("BodyBudget gives room as a body of unknown length arrives, and has all of it back when there is no more", async () => {
  const budget = new BodyBudget(100);
  const parts = (...sizes: number[]) =>
    budget.withRoom(0, async (takeRoom) => {
      for (const size of sizes) takeRoom(size);
    });
  await parts(60, 40);
  expect(await refusal(parts(60, 41))).toBe(503);
  expect(await budget.withRoom(100, done)).toBe("read");
});

test("BodyBudget says what is under way, and when to try again", async () => {
  const error = await new BodyBudget(100).withRoom(101, done).catch((reason: unknown) => reason);
  const response = (error as Problem).toResponse();
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await response.json()).toMatchObject({
    type: "/problems/overloaded",
    detail: "Cannot read the body: 0 bytes of other requests are on their way, at most 100 are taken at once",
  });
});
