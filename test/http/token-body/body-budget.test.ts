import { expect, test } from "bun:test";
import { Problem } from "../../../src/http/problem.ts";
import { BodyBudget } from "../../../src/http/token-body/body-budget.ts";

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

test("BodyBudget takes a body of unknown length for the largest one", async () => {
  expect(await refusal(new BodyBudget(100).withRoom(null, done))).toBe(503);
  expect(await new BodyBudget().withRoom(null, done)).toBe("read");
});
