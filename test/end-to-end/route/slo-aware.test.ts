import { afterEach, expect, test } from "bun:test";
import { promptTokens } from "./played-rank.ts";
import { type Member, RouteSite } from "./route-site.ts";

/** A millisecond for each token of a prompt; ten for each request that is decoded together, whatever their lengths. */
const MEASURED = {
  ttft: [
    [0, 0],
    [1000, 1000],
  ],
  tpot: [
    [1, 1, 10],
    [1, 2, 20],
  ],
} as const;

/** SLO_AWARE looks at no report. */
const D: Member = { role: "DECODE", load: null, ...MEASURED };
const M: Member = { role: "MIX", load: null, ...MEASURED };
const P: Member = { role: "PREFILL", load: null, ...MEASURED };

const TARGETS = ["--load-balance-policy=SLO_AWARE", "--target-ttft=1000", "--target-tpot=25"];

let site: RouteSite | null = null;

afterEach(async () => {
  await site?.stop();
  site = null;
});

async function start(members: Record<string, Member>): Promise<RouteSite> {
  site = await RouteSite.of(members, TARGETS);
  return site;
}

/** A decision as a line of a table: where it prefills and decodes, every score by name, and who changes sides. */
async function decide(site: RouteSite, requestId: string, tokens: number) {
  const {
    policy,
    prefill,
    decode,
    candidates = [],
    flip,
  } = await site.route({
    request_id: requestId,
    token_ids: promptTokens(tokens),
  });
  expect(policy).toBe("SLO_AWARE");
  const scores = candidates.map(({ instance_name, score }) => [instance_name, score]);
  return { prefill: prefill.instance_name, decode: decode?.instance_name, scores: Object.fromEntries(scores), flip };
}

async function finish(site: RouteSite, requestId: string, phase: string, fields: object = {}): Promise<number> {
  return (await site.request("POST", `/v1/route/${requestId}/finished`, { phase, ...fields })).status;
}

test("SLO_AWARE decides by its books, and moves a MIX instance to the side that is short and back", async () => {
  const site = await start({ "d:1": D, "m:1": M, "p:1": P });
  expect(await site.instance("m:1")).toMatchObject({ current_role: "PREFILL", streams: [{ synchronized: true }] });

  // On the prefill side a score is what is left to do, in ms; on the decode side 10·(requests there + this one).
  const scores = (d: number, m: number, p: number) => ({
    "d:1": expect.closeTo(d, 9),
    "m:1": expect.closeTo(m, 9),
    "p:1": expect.closeTo(p, 9),
  });
  const stay = { decode: "d:1", flip: null };
  // Equal at first: m is first in name order.
  expect(await decide(site, "r0", 100)).toEqual({ prefill: "m:1", ...stay, scores: scores(10, 0, 0) });
  expect(await decide(site, "r1", 60)).toEqual({ prefill: "p:1", ...stay, scores: scores(20, 100, 0) });
  // 30 is beyond the target of 25, but p is no MIX.
  expect(await decide(site, "r2", 40)).toEqual({ prefill: "p:1", ...stay, scores: scores(30, 100, 60) });
  // p has 60 + 40 to do now, as much as m, whose turn it is.
  expect(await decide(site, "r3", 10)).toEqual({
    prefill: "m:1",
    decode: "d:1",
    scores: scores(40, 100, 100),
    flip: { instance_name: "m:1", to: "DECODE" },
  });
  expect(await site.instance("m:1")).toMatchObject({ role: "MIX", current_role: "DECODE" });
  await site.sees("is not listened to any more", "m:1", ({ streams }) => streams.length === 0);
  expect(await decide(site, "r4", 20)).toEqual({ prefill: "p:1", decode: "m:1", scores: scores(50, 10, 100), flip: null });

  // The only request that m decodes ends: m goes back. What is left of p's 120: r1's first token is there, and r4 is over.
  expect(await finish(site, "r1", "prefill")).toBe(204);
  expect(await finish(site, "r1", "generate", { generated_tokens: 5 })).toBe(204);
  expect(await finish(site, "r4", "decode")).toBe(204);
  expect(await site.instance("m:1")).toMatchObject({ role: "MIX", current_role: "PREFILL" });
  await site.sees("is listened to again", "m:1", ({ streams }) => streams.length === 1 && streams[0].synchronized);
  expect(await decide(site, "r5", 30)).toEqual({ prefill: "p:1", ...stay, scores: scores(50, 110, 40) });

  // m has r3's 10 to do, p nothing; d decodes r3 alone.
  for (const [requestId, phase] of [
    ["r0", "decode"],
    ["r1", "decode"],
    ["r2", "cancel"],
    ["r5", "cancel"],
  ]) {
    expect(await finish(site, requestId, phase)).toBe(204);
  }
  expect(await decide(site, "r6", 10)).toEqual({ prefill: "p:1", ...stay, scores: scores(20, 10, 0) });
});

test("SLO_AWARE knows no request that was not routed or has ended", async () => {
  const site = await start({ "d:1": D, "p:1": P });
  await decide(site, "r0", 10);
  expect(await finish(site, "r0", "decode")).toBe(204);
  for (const requestId of ["r0", "r1"]) expect(await finish(site, requestId, "decode")).toBe(404);
});

test("SLO_AWARE leaves to RR what it cannot estimate", async () => {
  const site = await start({ "a:1": { ...MEASURED, load: null }, "b:1": { ...MEASURED, load: null } });
  const chosen = [await site.route(), await site.route(), await site.route()];
  expect(chosen.map(({ policy, prefill, decode }) => [policy, prefill.instance_name, decode])).toEqual([
    ["RR", "a:1", null],
    ["RR", "b:1", null],
    ["RR", "a:1", null],
  ]);
});
