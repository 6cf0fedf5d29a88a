import { expect, test } from "bun:test";
import { LOAD_BALANCE_POLICIES } from "#domain";
import { createFakeApp } from "../fake-directory.ts";
import { readProblem } from "../read-answer.ts";
import { A, B, createRoutedApp, join, ROUTE, readDecision } from "./route-scene.ts";

const finished = (id: string) => `${ROUTE}/${encodeURIComponent(id)}/finished`;

/** A prefill and a decode instance with a request "r" on its way through both. */
async function underWay(policy: "CAR" | "SLO_AWARE") {
  const scene = createFakeApp({ routing: { policy, trackInFlight: true } });
  await join(scene, A, { role: "PREFILL", ttft_profiling_data: [[1, 100]] });
  await join(scene, B, { role: "DECODE", tpot_profiling_data: [[101, 1, 10], [201, 1, 20], [101, 2, 20]] }); // biome-ignore format: a table
  await readDecision(await scene.send("POST", ROUTE, { token_ids: [1], request_id: "r" }));
  /** What the next request would meet on both sides; it is withdrawn at once. */
  const look = async () => {
    const { candidates = [] } = await readDecision(await scene.send("POST", ROUTE, { token_ids: [1], request_id: "look" }));
    await scene.send("POST", finished("look"), { phase: "cancel" });
    return candidates;
  };
  return { ...scene, look };
}

test("The finished route ends what is in flight, phase by phase", async () => {
  const { look, send } = await underWay("CAR");
  const inFlight = async () => (await look()).map(({ in_flight_requests }) => in_flight_requests);
  expect(await inFlight()).toEqual([1, 1]);
  const response = await send("POST", finished("r"), { phase: "prefill" });
  expect(response.status).toBe(204);
  expect(await response.text()).toBe("");
  expect(await inFlight()).toEqual([0, 1]);
  expect((await send("POST", finished("r"), { phase: "generate" })).status).toBe(204);
  expect(await inFlight()).toEqual([0, 1]);
  expect((await send("POST", finished("r"), { phase: "decode" })).status).toBe(204);
  expect(await inFlight()).toEqual([0, 0]);
});

test("The finished route keeps SLO_AWARE's books", async () => {
  const { look, send } = await underWay("SLO_AWARE");
  const scores = async () => (await look()).map(({ score }) => Math.round(score ?? -1));
  const [busy, first = 0] = await scores();
  expect(busy).toBe(100);
  await send("POST", finished("r"), { phase: "prefill" });
  const [idle] = await scores();
  expect(idle).toBe(0);
  await send("POST", finished("r"), { phase: "generate", generated_tokens: 999 });
  expect((await scores())[1]).toBe(first + 100);
});

test("The finished route answers 404 to a request that is not on the books, where there are any", async () => {
  for (const policy of LOAD_BALANCE_POLICIES) {
    const { send } = await createRoutedApp([A], { routing: { policy } });
    await send("POST", ROUTE, { token_ids: [1], request_id: "r" });
    const statuses: number[] = [];
    for (const [id, phase] of [
      ["r", "decode"],
      ["r", "decode"],
      ["never", "cancel"],
    ] as const) {
      statuses.push((await send("POST", finished(id), { phase })).status);
    }
    expect(statuses).toEqual(policy === "SLO_AWARE" ? [204, 404, 404] : [204, 204, 204]);
  }
});

test("The finished route says which request it does not know", async () => {
  const { send } = await createRoutedApp([A], { routing: { policy: "SLO_AWARE" } });
  const { detail, type } = await readProblem(await send("POST", finished("r/1"), { phase: "generate" }));
  expect(type).toBe("/problems/not-found");
  expect(detail).toBe(
    'Cannot note phase generate of request "r/1": it is not under way, a request that was routed and has not ended is needed',
  );
});

test("The finished route knows a request whatever characters its id has", async () => {
  const { send } = await createRoutedApp([A], { routing: { policy: "SLO_AWARE" } });
  for (const request_id of ["a/b", " ", "100%", "?#", "a".repeat(256)]) {
    await send("POST", ROUTE, { token_ids: [1], request_id });
    expect([request_id, (await send("POST", finished(request_id), { phase: "cancel" })).status]).toEqual([request_id, 204]);
  }
});

test.each([
  ["/phase", {}, "found no such field, one of prefill, generate, decode, cancel is allowed"],
  ["/phase", { phase: "done" }, 'found "done", one of prefill, generate, decode, cancel is allowed'],
  [
    "/generated_tokens",
    { phase: "generate", generated_tokens: 0 },
    "found 0, an integer from 1 to 1048576 is allowed, with phase generate only",
  ],
  [
    "/generated_tokens",
    { phase: "decode", generated_tokens: 5 },
    "found 5 with phase decode, it is allowed with phase generate only",
  ],
  ["/tokens", { phase: "generate", tokens: 5 }, "found an unknown field, allowed are phase, generated_tokens"],
])("The finished route refuses the field %s of %j", async (pointer, body, detail) => {
  const response = await createFakeApp().send("POST", finished("r"), body);
  expect(response.status).toBe(422);
  expect((await readProblem(response)).errors).toEqual([{ pointer, detail }]);
});

test.each([
  ["{", "application/json", 400],
  ["[]", "application/json", 400],
  ["{}", "text/plain", 415],
  [`{"phase":"${"a".repeat(1024)}"}`, "application/json", 413],
])("The finished route refuses the body %# with its status", async (body, type, status) => {
  const response = await createFakeApp().send("POST", finished("r"), body, { "content-type": type });
  expect(response.status).toBe(status);
  expect((await readProblem(response)).status).toBe(status);
});
