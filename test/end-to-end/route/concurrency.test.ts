import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CandidateAnswer, DecisionAnswer } from "../../../src/http/route/schema.ts";
import type { ChurningEngine } from "./churning-engines.thread.ts";
import type { ClientAnswer, ClientOrder } from "./concurrent-client.process.ts";
import { promptTokens } from "./played-rank.ts";
import { RouteSite } from "./route-site.ts";

const REQUESTS = 1000;
const TEST_TIMEOUT_MS = 60_000;

/** Scores this near are equal. */
const TOLERANCE = 1e-9;

const CLIENT = new URL("./concurrent-client.process.ts", import.meta.url).pathname;
const ENGINES = new URL("./churning-engines.thread.ts", import.meta.url).href;

let site: RouteSite;
let thread: Worker;
let engines: readonly ChurningEngine[];

beforeAll(async () => {
  site = await RouteSite.start();
  thread = new Worker(ENGINES);
  engines = await new Promise((resolve) => thread.addEventListener("message", ({ data }) => resolve(data), { once: true }));
  for (const { name, ...endpoints } of engines) {
    await site.register(name, {}, [{ engine: "xllm", ...endpoints }]);
    await site.sees("is in step", name, ({ streams }) => streams.length === 1 && streams[0].synchronized);
  }
}, TEST_TIMEOUT_MS);

afterAll(async () => {
  await endThread();
  await site?.stop();
});

/** Resolves when its engines are closed. */
async function endThread(): Promise<void> {
  const ended = new Promise((resolve) => thread.addEventListener("close", resolve));
  thread.postMessage("end");
  await ended;
}

async function report(waitingOf: (position: number) => number): Promise<void> {
  for (const [position, { name }] of engines.entries()) await site.report(name, { load: { waiting: waitingOf(position) } });
}

/** Batches that Warmpath has taken in, of all engines. */
async function batches(): Promise<number> {
  const sequences = await Promise.all(engines.map(async ({ name }) => (await site.instance(name)).streams[0].sequence));
  return sequences.reduce((sum, sequence) => sum + sequence, 0);
}

/** The answers to as many requests at once, all of them placements; prints how long they took. */
async function routeAtOnce(what: string, token_ids: readonly number[]): Promise<DecisionAnswer[]> {
  const order: ClientOrder = { url: `${site.url}/v1/route`, bodies: Array.from({ length: REQUESTS }, () => ({ token_ids })) };
  const before = await batches();
  const client = Bun.spawn([Bun.argv[0], CLIENT], {
    // Bun's own limit is 256 requests under way.
    env: { ...Bun.env, BUN_CONFIG_MAX_HTTP_REQUESTS: String(REQUESTS) },
    stdin: new Blob([JSON.stringify(order)]),
    stdout: "pipe",
    stderr: "inherit",
  });
  const answers = (await client.stdout.json()) as ClientAnswer[];
  const heard = (await batches()) - before;
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(heard).toBeGreaterThan(0);
  const durations = answers.map(({ ms }) => ms).toSorted((left, right) => left - right);
  const [p50, p99] = [0.5, 0.99].map((share) => Math.round(durations[Math.floor(share * (durations.length - 1))]));
  console.log(`${REQUESTS} routes at once for ${what}: p50 ${p50} ms, p99 ${p99} ms; ${heard} batches heard meanwhile`);
  return answers.map(({ body }) => JSON.parse(body) as DecisionAnswer);
}

/** By the formulas, from what the answer says of tokens and of the queue: λ 0.5, host weight 0.5. */
function scoreOf(candidate: CandidateAnswer, tokenCount: number, waitingMax: number): number {
  const ratio = (candidate.device_hit_tokens + candidate.host_only_hit_tokens / 2) / tokenCount;
  return (1 - ratio) / 2 + (waitingMax === 0 ? 0 : (candidate.waiting_requests ?? 0) / waitingMax / 2);
}

/** The chosen one costs no more than any other by numbers that the answer itself gives. */
function expectCheapest({ prefill, candidates = [] }: DecisionAnswer, tokenCount: number): void {
  const waitingMax = Math.max(...candidates.map(({ waiting_requests }) => waiting_requests ?? 0));
  const scores = candidates.map((candidate) => scoreOf(candidate, tokenCount, waitingMax));
  const wrong = candidates.filter(({ score }, position) => Math.abs((score ?? Number.NaN) - scores[position]) > TOLERANCE);
  expect(wrong).toEqual([]);
  const chosen = scores[candidates.findIndex(({ instance_name }) => instance_name === prefill.instance_name)];
  expect(chosen).toBeLessThanOrEqual(Math.min(...scores) + TOLERANCE);
}

function chosenCounts(decisions: readonly DecisionAnswer[]): Map<string, number> {
  const counts = new Map(engines.map(({ name }) => [name, 0]));
  for (const { prefill } of decisions) counts.set(prefill.instance_name, (counts.get(prefill.instance_name) ?? 0) + 1);
  return counts;
}

describe(`${REQUESTS} requests at once, while eight engines publish without a pause,`, () => {
  test(
    "go to each instance as often as to any other when nobody holds the prompt and all wait for the same",
    async () => {
      await report(() => 2);
      const prompt = Array.from({ length: 160 }, (_, index) => 1_000_000 + index);
      const decisions = await routeAtOnce("a prompt that nobody holds", prompt);
      for (const decision of decisions) expectCheapest(decision, prompt.length);
      expect([...chosenCounts(decisions).values()]).toEqual(engines.map(() => REQUESTS / engines.length));
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "go to who costs least by the hits and queues that each answer lists",
    async () => {
      await report((position) => position);
      const prompt = promptTokens();
      const decisions = await routeAtOnce("a prompt that comes and goes", prompt);
      for (const decision of decisions) expectCheapest(decision, prompt.length);
      const ratios = new Set(decisions.flatMap(({ candidates = [] }) => candidates.map(({ kv_hit_ratio }) => kv_hit_ratio)));
      expect(ratios.size).toBeGreaterThan(2);
    },
    TEST_TIMEOUT_MS,
  );
});
