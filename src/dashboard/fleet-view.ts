/** The fleet at a glance: a row for each instance, what is wrong with it in words, and what was refused. */

import { type Content, element, styled, urlOf } from "./element.ts";
import { formatCount, formatCounted, formatDuration, formatShare } from "./format.ts";
import type { Instance, Model, Stream } from "./model.ts";
import { type Column, type Row, table } from "./table.ts";
import { tierBar } from "./tier-bar.ts";

/** Rows that are drawn each second without the page becoming slow. */
const INSTANCES_SHOWN_MAX = 256;

/** Reasons under one instance, each for all ranks that have it. */
const REASONS_SHOWN_MAX = 3;

const COLUMNS: readonly Column[] = [
  { heading: "Instance" },
  { heading: "Role" },
  { heading: "State" },
  { heading: "Streams" },
  { heading: "Routing" },
  { heading: "Blocks", kind: "gauge" },
  { heading: "Load" },
];

export function fleetView({ fleet, last }: Model): Content[] {
  if (fleet === null || last === null) return [element("p", { class: "note" }, "The index is busy; it is looked at again.")];
  const { instances, static_streams: staticStreams, refused } = fleet;
  const shown = instances.slice(0, INSTANCES_SHOWN_MAX);
  const leftOut = instances.length - shown.length;
  const listed = [...Map.groupBy(staticStreams, (stream) => stream.instance_name)];
  const rows = [
    ...shown.map((instance) => instanceRow(instance, last.max_blocks_per_stream)),
    ...listed.map(([name, streams]) => listedRow(name, streams, last.max_blocks_per_stream)),
  ];
  return [
    rows.length > 0 ? table("Instances", COLUMNS, rows) : firstSteps(),
    leftOut > 0 ? element("p", { class: "note" }, `${formatCounted(leftOut, "more instance")} at `, link("v1/instances")) : null,
    ...refused.slice(0, REASONS_SHOWN_MAX).map(({ registry, name, reason }) => {
      return element("p", { class: "note bad" }, `${name}, refused from ${registry}: ${reason}`);
    }),
    refused.length > REASONS_SHOWN_MAX ? note(`${formatCount(refused.length - REASONS_SHOWN_MAX)} more were refused`) : null,
  ];
}

function instanceRow(instance: Instance, blocksMax: number): Row {
  const { name, address, engine, registry, role, current_role: currentRole, state, streams } = instance;
  return {
    key: name,
    className: instance.excluded === null ? "" : "excluded",
    cells: [
      [
        element("strong", {}, name),
        note([engine, address === name ? null : address, registry].filter((part) => part !== null).join(" · ")),
      ],
      [role, role === currentRole ? null : note(`as ${currentRole}`)],
      [
        mark(state, state === "ACTIVE" ? "good" : state === "SUSPECT" ? "bad" : "warn"),
        note(formatDuration(instance.state_seconds * 1000)),
      ],
      streamsCell(streams, instance.subscription_error, currentRole === "DECODE"),
      instance.excluded === null ? "takes requests" : element("span", { class: "warn" }, instance.excluded),
      blocksCell(streams, blocksMax),
      loadCell(instance),
    ],
  };
}

/** A stream of the KV events file whose instance nobody registered: only its index is known. */
function listedRow(name: string, streams: readonly Stream[], blocksMax: number): Row {
  return {
    key: `listed ${name}`,
    cells: [
      [element("strong", {}, name), note("listed in the KV events file")],
      "–",
      "–",
      streamsCell(streams, null, false),
      "not registered",
      blocksCell(streams, blocksMax),
      "–",
    ],
  };
}

/** That nobody listens to an instance that decodes is as it should be. */
function streamsCell(streams: readonly Stream[], subscriptionError: string | null, isDecoding: boolean): Content[] {
  if (streams.length === 0) {
    if (subscriptionError === null) return ["–"];
    return [isDecoding ? note(subscriptionError) : element("span", { class: "warn" }, subscriptionError)];
  }
  const wrong = streams.filter(({ synchronized }) => !synchronized);
  const reasons = [...Map.groupBy(wrong, ({ error }) => error)];
  const partial = streams.filter(({ coverage }) => coverage === "partial").length;
  const summary =
    wrong.length === 0
      ? "in sync"
      : streams.length === 1
        ? "not in sync"
        : `${streams.length - wrong.length} of ${streams.length} in sync`;
  return [
    element(
      "span",
      { class: "ranks" },
      ...(streams.length > 1 ? streams.map(rankMark) : []),
      streams.length > 1 ? element("span", {}, summary) : mark(summary, wrong.length === 0 ? "good" : "bad"),
    ),
    ...reasons.slice(0, REASONS_SHOWN_MAX).map(([reason, ranks]) => {
      return element("small", { class: "bad" }, streams.length > 1 ? `${formatRanks(ranks)}: ${reason}` : reason);
    }),
    reasons.length > REASONS_SHOWN_MAX ? note(`and ${reasons.length - REASONS_SHOWN_MAX} more reasons`) : null,
    wrong.length === 0 && streams.length === 1 ? note(`batch ${formatCount(streams[0]?.sequence ?? 0)}`) : null,
    partial > 0
      ? note(partial === streams.length ? "partial coverage" : `partial coverage of ${formatCounted(partial, "rank")}`)
      : null,
  ];
}

/** `rank 3`, `ranks 3, 4, 7`. */
function formatRanks(streams: readonly Stream[]): string {
  return `rank${streams.length === 1 ? "" : "s"} ${streams.map(({ dp_rank: rank }) => rank).join(", ")}`;
}

function rankMark({ dp_rank: rank, synchronized, error, sequence }: Stream): HTMLElement {
  const title = `rank ${rank}: ${synchronized ? `in sync, batch ${formatCount(sequence)}` : error}`;
  return element("span", { class: `rank ${synchronized ? "good" : "bad"}`, role: "img", "aria-label": title, title });
}

function blocksCell(streams: readonly Stream[], blocksMax: number): Content[] {
  if (streams.length === 0) return ["–"];
  const tiers = { device: 0, host: 0, disk: 0 };
  for (const stream of streams) {
    tiers.device += stream.device_blocks;
    tiers.host += stream.host_blocks;
    tiers.disk += stream.disk_blocks;
  }
  const whole = blocksMax * streams.length;
  const parts = (["device", "host", "disk"] as const).map((tier) => formatCount(tiers[tier]));
  return [tierBar(tiers, whole, "blocks"), note(`${parts.join(" · ")} of ${formatCount(whole)}`)];
}

function loadCell({ load, load_error: error }: Instance): Content[] {
  if (load === null) return [element("span", { class: "warn" }, error ?? "unknown")];
  const usage = load.gpu_cache_usage_perc;
  const label = `${formatShare(usage)} of the device's KV cache in use`;
  return [
    element("span", {}, `${formatCount(load.waiting_requests_num)} waiting · ${formatShare(usage)} full`),
    element(
      "div",
      { class: "filling", role: "img", "aria-label": label, title: label },
      styled(element("span"), { width: `${usage * 100}%` }),
    ),
    note(`${load.origin}, ${formatDuration(load.age_ms)} ago`),
  ];
}

/** A word with a sign, so that colour says nothing alone. */
function mark(word: string, kind: "good" | "warn" | "bad"): HTMLElement {
  return element("span", { class: `mark ${kind}` }, word);
}

function note(text: string): HTMLElement {
  return element("small", {}, text);
}

function link(path: string): HTMLElement {
  return element("a", { href: path }, `/${path}`);
}

/** Nobody is there yet: what to do. */
function firstSteps(): HTMLElement {
  const command = `curl ${urlOf("v1/instances")} -H 'content-type: application/json' -d '{
  "name": "10.0.0.5:8000", "engine": "vllm", "block_size": 16, "topic": "kv",
  "event_endpoints": ["tcp://10.0.0.5:5557"], "replay_endpoints": ["tcp://10.0.0.5:5558"]
}'`;
  return element(
    "div",
    { class: "first-steps" },
    element(
      "p",
      {},
      "No instance is registered yet. Engines come from etcd or Kubernetes, where Warmpath is told to look, or register here:",
    ),
    element("pre", { tabindex: "0" }, element("code", {}, command)),
    element(
      "p",
      {},
      "With an internal token, add ",
      element("code", {}, "-H 'x-internal-token: …'"),
      ". Or look at four simulated engines first:",
    ),
    element("pre", { tabindex: "0" }, element("code", {}, "bun run demo")),
  );
}
