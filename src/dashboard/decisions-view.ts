/** The last decisions, newest first; each opens to its candidates and why they were chosen or not. */

import type { DecisionEntry } from "#http";
import { type Content, element, urlOf } from "./element.ts";
import { formatClock, formatCount, formatCounted, formatScore, formatShare } from "./format.ts";
import { type Column, table } from "./table.ts";
import { tierBar } from "./tier-bar.ts";

/** What is seen at a glance; the others are shown when they are asked for. */
const SHOWN_MAX = 12;

type Candidate = DecisionEntry["candidates"][number];

const COLUMNS: readonly Column[] = [
  { heading: "Candidate" },
  { heading: "Side", kind: "qualifier" },
  { heading: "Held of the prompt", kind: "bar" },
  { heading: "Hit ratio", kind: "number" },
  { heading: "Waiting", kind: "number" },
  { heading: "Queue cost", kind: "number" },
  { heading: "Score", kind: "number" },
  { heading: "Outcome", kind: "words" },
];

export interface DecisionsShown {
  /** Newest first. */
  decisions: readonly DecisionEntry[];
  /** Not only the newest. */
  isAll: boolean;
}

export function decisionsView({ decisions, isAll }: DecisionsShown): Content[] {
  if (decisions.length === 0) {
    const command = `curl ${urlOf("v1/route")} -H 'content-type: application/json' -d '{"token_ids":[1,2,3]}'`;
    return [
      element("p", { class: "note" }, "Nothing was decided yet. Ask where a request should go:"),
      element("pre", { tabindex: "0" }, element("code", {}, command)),
    ];
  }
  return [
    element(
      "ol",
      { class: "decisions", "aria-label": "Decisions, newest first" },
      ...decisions.slice(0, isAll ? decisions.length : SHOWN_MAX).map(decisionItem),
    ),
  ];
}

function decisionItem(decision: DecisionEntry): HTMLElement {
  const chosen = decision.candidates.find(({ instance_name: name }) => name === decision.prefill);
  return element(
    "li",
    { "data-key": String(decision.number) },
    element(
      "details",
      {},
      element(
        "summary",
        {},
        element("time", { datetime: new Date(decision.at_ms).toISOString() }, formatClock(decision.at_ms)),
        element("span", { class: "request", title: decision.request_id }, decision.request_id),
        element("span", { class: "number" }, formatCounted(decision.prompt_tokens, "token")),
        heldBar(chosen ?? null, decision.prompt_tokens),
        destination(decision),
        element("span", { class: "number score" }, chosen === undefined ? "" : formatScore(chosen.score)),
      ),
      ...explanation(decision),
    ),
  );
}

function destination({ prefill, decode, refused }: DecisionEntry): HTMLElement {
  if (refused !== null) return element("span", { class: "to bad" }, "nowhere");
  return element(
    "span",
    { class: "to" },
    "→ ",
    element("strong", {}, prefill),
    ...(decode === null ? [] : [" then ", element("strong", {}, decode)]),
  );
}

function explanation(decision: DecisionEntry): Content[] {
  const { candidates, refused, policy, candidates_left_out: leftOut } = decision;
  return [
    refused === null ? null : element("p", { class: "bad" }, refused),
    table(
      `Candidates of request ${decision.request_id}`,
      COLUMNS,
      candidates.map((candidate) => ({
        key: candidate.instance_name,
        className: isChosen(candidate, decision) ? "chosen" : "",
        cells: [
          element("strong", {}, candidate.instance_name),
          candidate.side,
          heldBar(candidate, decision.prompt_tokens),
          formatShare(candidate.kv_hit_ratio),
          candidate.waiting_requests === null ? "–" : formatCount(candidate.waiting_requests + candidate.in_flight_requests),
          candidate.queue_cost.toFixed(2),
          formatScore(candidate.score),
          reason(candidate, decision),
        ],
      })),
    ),
    leftOut > 0 ? element("p", { class: "note" }, `and ${formatCounted(leftOut, "more candidate")}`) : null,
    element("p", { class: "note" }, RULES[policy]),
  ];
}

/** What a score means, in a line. */
const RULES: Readonly<Record<DecisionEntry["policy"], string>> = {
  CAR: "CAR: the least score is chosen; it weighs what is not held of the prompt against the queue beside the longest one. Equal scores take turns.",
  RR: "RR: each in turn; neither cache nor load is looked at.",
  SLO_AWARE: "SLO_AWARE: the estimated milliseconds until the first token; the least is chosen within the targets.",
};

function isChosen({ instance_name: name }: Candidate, { prefill, decode }: DecisionEntry): boolean {
  return name === prefill || name === decode;
}

function reason(candidate: Candidate, decision: DecisionEntry): Content {
  if (candidate.excluded !== null) return element("span", { class: "warn" }, candidate.excluded);
  if (candidate.uncredited !== null) return element("span", { class: "warn" }, `no credit, ${candidate.uncredited}`);
  if (isChosen(candidate, decision)) return element("b", {}, "chosen");
  const chosen = decision.candidates.find((other) => other.side === candidate.side && isChosen(other, decision));
  if (chosen === undefined || chosen.score === null || candidate.score === null) return "not its turn";
  return candidate.score > chosen.score ? "higher score" : "equal score, not its turn";
}

/** Null: nobody. */
function heldBar(candidate: Candidate | null, promptTokens: number): HTMLElement {
  const tiers = {
    device: candidate?.device_hit_tokens ?? 0,
    host: candidate?.host_only_hit_tokens ?? 0,
    disk: candidate?.disk_only_hit_tokens ?? 0,
  };
  return tierBar(tiers, promptTokens, "tokens");
}
