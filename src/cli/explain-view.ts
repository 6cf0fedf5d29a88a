/** A decision as lines of text: the verdict, why, each side's candidates with the parts of their scores, and what those are. */

import type { DecisionAnswer } from "#http";
import { formatCount, formatCounted, formatScore, formatShare } from "./figures.ts";
import type { Painted } from "./paint.ts";
import type { Screen } from "./terminal.ts";
import { type Column, type Row, sentenceLines, tableLines } from "./text-table.ts";

type Candidate = NonNullable<DecisionAnswer["candidates"]>[number];
type Side = Candidate["side"];
type Policy = DecisionAnswer["policy"];

/** A part of a score: its heading, and how a candidate's is shown. */
interface Part {
  heading: string;
  show(candidate: Candidate): string;
}

const SCORE = (heading: string): Part => ({ heading, show: ({ score }) => formatScore(score) });
const QUEUE: Part = { heading: "QUEUE", show: ({ queue_cost: cost }) => cost.toFixed(2) };
const NOT_HELD: Part = { heading: "NOT HELD", show: ({ kv_hit_ratio: ratio }) => formatShare(1 - ratio) };
const CACHE: Part = { heading: "CACHE", show: ({ gpu_cache_usage_perc: usage }) => (usage === null ? "–" : formatShare(usage)) };

const PARTS: Readonly<Record<Policy, Readonly<Record<Side, readonly Part[]>>>> = {
  CAR: { prefill: [SCORE("SCORE"), NOT_HELD, QUEUE], decode: [SCORE("SCORE"), CACHE, QUEUE] },
  RR: { prefill: [], decode: [] },
  SLO_AWARE: { prefill: [SCORE("MS LEFT")], decode: [SCORE("MS A TOKEN")] },
};

/** What the parts mean. */
const RULES: Readonly<Record<Policy, Readonly<Record<Side, string>>>> = {
  CAR: {
    prefill:
      "score = λ · not held + (1 − λ) · queue, the least is chosen and equals take turns. Not held: the share of the prompt that is " +
      "to be computed, where what only host memory or disk holds counts in part. Queue: requests that wait, beside the " +
      "candidate with the most. λ is car_prefill_lambda",
    decode: "score = cache + queue, the least is chosen and equals take turns. Cache: how full the device's KV cache is",
  },
  RR: { prefill: "RR: each in turn, neither cache nor load is looked at", decode: "Decode instances take turns by themselves" },
  SLO_AWARE: {
    prefill: "Ms left: what an instance has still to prefill, by its own measurements; the least is chosen and equals take turns",
    decode: "Ms a token: estimated with this request; the first within target_tpot is chosen, else the least",
  },
};

/** Scores this near are equal, as they are to the router. */
const SCORE_TOLERANCE = 1e-12;

export function decisionLines(decision: DecisionAnswer, tokenCount: number, screen: Screen): string[] {
  const { policy, prefill, decode, flip, candidates = [] } = decision;
  const sides = (["prefill", "decode"] as const).filter((side) => candidates.some((candidate) => candidate.side === side));
  const where =
    decode === null
      ? `to ${prefill.instance_name}, which decodes it too`
      : `to ${prefill.instance_name} for prefill, then to ${decode.instance_name} for decode`;
  return [
    ...sentenceLines({ text: `It would go ${where}; ${policy}, ${formatCounted(tokenCount, "token")}`, colour: "bold" }, screen),
    ...(flip === null ? [] : sentenceLines(`With it ${flip.instance_name} would change to the side of ${flip.to}`, screen)),
    ...(policy === "CAR" ? sides.flatMap((side) => sentenceLines(advantage(decision, side), screen)) : []),
    ...sides.flatMap((side) => ["", ...sideLines(decision, side, tokenCount, screen)]),
    "",
    ...sides.flatMap((side) => sentenceLines({ text: RULES[policy][side], colour: "dim" }, screen)),
  ];
}

function sideLines(decision: DecisionAnswer, side: Side, tokenCount: number, screen: Screen): string[] {
  const parts = PARTS[decision.policy][side];
  const columns: Column[] = [
    { heading: side.toUpperCase() },
    ...parts.map(({ heading }): Column => ({ heading, isNumber: true })),
    { heading: "" },
  ];
  const rows = ranked(decision, side).map((candidate): Row => {
    const { instance_name: name, excluded } = candidate;
    const chosen = chosenFor(decision, name);
    return {
      cells: [
        name,
        ...parts.map(({ show }) => (excluded === null ? show(candidate) : "–")),
        chosen === "" ? "" : { text: `← ${chosen}`, colour: "green" },
      ],
      notes: candidateNotes(candidate, decision.policy, tokenCount),
    };
  });
  return tableLines(columns, rows, screen);
}

/** The best first, those that may not serve last. */
function ranked({ candidates = [] }: DecisionAnswer, side: Side): Candidate[] {
  const rank = ({ excluded, score }: Candidate) => (excluded === null ? (score ?? 0) : Number.MAX_VALUE);
  return candidates.filter((candidate) => candidate.side === side).toSorted((one, other) => rank(one) - rank(other));
}

function chosenFor({ prefill, decode }: DecisionAnswer, name: string): string {
  const tasks = [...(prefill.instance_name === name ? ["prefill"] : []), ...(decode?.instance_name === name ? ["decode"] : [])];
  return tasks.join(", ");
}

function candidateNotes(candidate: Candidate, policy: Policy, tokenCount: number): Painted[] {
  const { excluded, uncredited, side } = candidate;
  if (excluded !== null) return [{ text: `may not serve: ${excluded}`, colour: "yellow" }];
  if (policy !== "CAR") return [];
  const held = side === "decode" ? [] : [uncredited === null ? holdings(candidate, tokenCount) : null];
  const words = [...held, waiting(candidate)].filter((text) => text !== null).join("; ");
  const credit: Painted[] = uncredited === null ? [] : [{ text: `no credit for what it holds, ${uncredited}`, colour: "yellow" }];
  return [...credit, { text: words, colour: "dim" }];
}

function holdings(candidate: Candidate, tokenCount: number): string {
  const tiers = [
    [candidate.device_hit_tokens, "on the device"],
    [candidate.host_only_hit_tokens, "in host memory only"],
    [candidate.disk_only_hit_tokens, "on disk only"],
    [candidate.predicted_hit_tokens, "expected of what was sent there a moment ago"],
  ] as const;
  const held = tiers.filter(([tokens]) => tokens > 0).map(([tokens, where]) => `${formatCount(tokens)} ${where}`);
  return held.length === 0 ? "holds nothing of it" : `holds of ${formatCounted(tokenCount, "token")}: ${held.join(", ")}`;
}

function waiting({ waiting_requests: reported, in_flight_requests: inFlight }: Candidate): string {
  const sent = inFlight === 0 ? "" : `, ${formatCount(inFlight)} more sent there since its report`;
  return `${formatCounted(reported ?? 0, "request")} waiting${sent}`;
}

/** Why the chosen one of a side is ahead of the next. */
function advantage(decision: DecisionAnswer, side: Side): string {
  const chosenName = (side === "prefill" ? decision.prefill : decision.decode)?.instance_name;
  const serving = ranked(decision, side).filter(({ excluded }) => excluded === null);
  const chosen = serving.find(({ instance_name: name }) => name === chosenName);
  const next = serving.find(({ instance_name: name }) => name !== chosenName);
  if (chosen === undefined) return `No instance may ${side}`;
  if (next === undefined) return `No other instance may ${side}`;
  const margin = (next.score ?? 0) - (chosen.score ?? 0);
  if (margin <= SCORE_TOLERANCE)
    return `${side === "prefill" ? "Prefill" : "Decode"}: equal to ${next.instance_name}, equals take turns`;
  return `Ahead of ${next.instance_name} by ${formatScore(margin)} for ${side}: ${differences(chosen, next, side).join(", ")}`;
}

/** What speaks for the chosen one, and then what against it. */
function differences(chosen: Candidate, next: Candidate, side: Side): string[] {
  const cost = ({ kv_hit_ratio: ratio, gpu_cache_usage_perc: usage }: Candidate) =>
    side === "prefill" ? 1 - ratio : (usage ?? 0);
  const words = (candidate: Candidate) =>
    side === "prefill"
      ? `holds ${formatShare(candidate.kv_hit_ratio)} of the prompt`
      : `its cache is ${CACHE.show(candidate)} full`;
  const against = (candidate: Candidate) => (side === "prefill" ? formatShare(candidate.kv_hit_ratio) : CACHE.show(candidate));
  const parts = [
    { gain: cost(next) - cost(chosen), text: `${words(chosen)} against ${against(next)}` },
    { gain: next.queue_cost - chosen.queue_cost, text: `its queue costs ${QUEUE.show(chosen)} against ${QUEUE.show(next)}` },
  ];
  return [
    ...parts.filter(({ gain }) => gain > 0).map(({ text }) => text),
    ...parts.filter(({ gain }) => gain < 0).map(({ text }) => `though ${text}`),
  ];
}
