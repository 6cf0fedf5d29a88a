/** The fleet as lines of text. */

import type { InstancesAnswer } from "#http";
import { formatCounted, formatDuration, formatShare, formatShortCount } from "./figures.ts";
import type { Painted } from "./paint.ts";
import type { Status } from "./status.ts";
import type { Screen } from "./terminal.ts";
import { type Column, type Row, sentenceLines, tableLines } from "./text-table.ts";

type Instance = InstancesAnswer["instances"][number];
type Stream = Instance["streams"][number];

/** Ranks that a note names; they mostly share their reason. */
const RANKS_NAMED_MAX = 8;

const COLUMNS: readonly Column[] = [
  { heading: "INSTANCE" },
  { heading: "ROLE" },
  { heading: "STATE" },
  { heading: "WAIT", isNumber: true },
  { heading: "CACHE", isNumber: true },
  { heading: "AGE", isNumber: true },
  { heading: "SYNC", isNumber: true },
  { heading: "DEVICE", isNumber: true },
  { heading: "HOST", isNumber: true },
  { heading: "DISK", isNumber: true },
];

const STATE_COLOURS = { ACTIVE: "green", LEASE_LOST: "yellow", SUSPECT: "red" } as const;

/** A summary, a row for each instance with what is wrong below it, and what was refused. */
export function statusLines({ ready, reasons, fleet }: Status, screen: Screen): string[] {
  const { instances, static_streams: listed, refused } = fleet;
  const rows = [...instances.map(instanceRow), ...listedRows(listed)];
  return [
    ...sentenceLines(
      ready ? { text: "Ready", colour: "green" } : { text: `Not ready: ${reasons.join("; ")}`, colour: "red" },
      screen,
    ),
    ...sentenceLines(summary(fleet), screen),
    ...(rows.length > 0 ? ["", ...tableLines(COLUMNS, rows, screen)] : []),
    ...refused.flatMap(({ registry, name, reason }) =>
      sentenceLines({ text: `Refused from ${registry}: ${name}: ${reason}`, colour: "yellow" }, screen),
    ),
  ];
}

function summary({ instances, static_streams: listed }: InstancesAnswer): string {
  if (instances.length + listed.length === 0) return "No instance is registered, and no stream is listed";
  const serving = instances.filter(({ excluded }) => excluded === null).length;
  const streams = [...instances.flatMap((instance) => instance.streams), ...listed];
  return (
    `${formatCounted(instances.length, "instance")}, ${serving} may serve; ` +
    `${formatCounted(streams.length, "stream")}, ${synchronizedCount(streams)} synchronized`
  );
}

function instanceRow(instance: Instance): Row {
  const { name, role, current_role: currentRole, state, load, streams, excluded } = instance;
  return {
    cells: [
      name,
      role === currentRole ? role : `${role}→${currentRole}`,
      { text: state, colour: STATE_COLOURS[state] },
      load === null ? "–" : formatShortCount(load.waiting_requests_num),
      load === null ? "–" : formatShare(load.gpu_cache_usage_perc),
      load === null ? "–" : formatDuration(load.age_ms),
      ...streamCells(streams),
    ],
    notes: [
      ...notes("yellow", excluded === null ? null : `may not serve: ${excluded}`),
      // CAR names it as the reason why the instance may not serve.
      ...notes("yellow", excluded?.startsWith("load unknown") ? null : instance.load_error),
      // Nothing is wrong with a DECODE instance that nobody listens to.
      ...notes(currentRole === "DECODE" ? "dim" : "yellow", instance.subscription_error),
      ...streamNotes(streams),
    ],
  };
}

/** Streams of the KV events file whose instance nobody registered: only its index is known. */
function listedRows(listed: InstancesAnswer["static_streams"]): Row[] {
  return [...Map.groupBy(listed, (stream) => stream.instance_name)].map(([name, streams]) => ({
    cells: [name, "–", "listed", "–", "–", "–", ...streamCells(streams)],
    notes: streamNotes(streams),
  }));
}

function streamCells(streams: readonly Stream[]): Painted[] {
  if (streams.length === 0) return ["–", "–", "–", "–"];
  const count = synchronizedCount(streams);
  const blocks = (["device_blocks", "host_blocks", "disk_blocks"] as const).map((tier) =>
    formatShortCount(streams.reduce((sum, stream) => sum + stream[tier], 0)),
  );
  return [{ text: `${count}/${streams.length}`, colour: count === streams.length ? "green" : "red" }, ...blocks];
}

function streamNotes(streams: readonly Stream[]): Painted[] {
  const isOneRank = streams.length === 1;
  const wrong = Map.groupBy(streams, ({ error }) => error);
  const partial = streams.filter(({ synchronized, coverage }) => synchronized && coverage === "partial");
  return [
    ...[...wrong].flatMap(([error, ranks]) => notes("red", error && (isOneRank ? error : `${ranksText(ranks)}: ${error}`))),
    ...notes(
      "dim",
      partial.length === 0
        ? null
        : `${isOneRank ? "" : `${ranksText(partial)}: `}partial coverage, more may be held than is known`,
    ),
  ];
}

function ranksText(streams: readonly Stream[]): string {
  const named = streams.slice(0, RANKS_NAMED_MAX).map(({ dp_rank: rank }) => rank);
  const more = streams.length - named.length;
  return `${streams.length === 1 ? "rank" : "ranks"} ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function synchronizedCount(streams: readonly Stream[]): number {
  return streams.filter(({ synchronized }) => synchronized).length;
}

function notes(colour: "yellow" | "red" | "dim", text: string | null): Painted[] {
  return text === null ? [] : [{ text, colour }];
}
