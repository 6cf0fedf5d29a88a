/** The matches of a prompt as lines of text, each with a bar for the reach of every tier. */

import type { InstanceMatch } from "#http";
import { formatCount, formatCounted, formatShare } from "./figures.ts";
import type { Painted } from "./paint.ts";
import type { Screen } from "./terminal.ts";
import { type Column, type Row, sentenceLines, tableLines } from "./text-table.ts";

const WIDE_COLUMNS = 100;
const BAR_WIDE = 30;
const BAR_NARROW = 16;

/** Told apart by their shape, without colours. */
const CELLS = { device: "█", host: "▓", disk: "░", rest: "·" } as const;

const LEGEND = `${CELLS.device} device  ${CELLS.host} host only  ${CELLS.disk} disk only  ${CELLS.rest} not held; only full blocks count`;

const COLUMNS: readonly Column[] = [
  { heading: "INSTANCE" },
  { heading: "RANK", isNumber: true },
  { heading: "REACH" },
  { heading: "DEVICE", isNumber: true },
  { heading: "HOST", isNumber: true },
  { heading: "DISK", isNumber: true },
  { heading: "SHARE", isNumber: true },
];

export function matchLines(matches: readonly InstanceMatch[], tokenCount: number, screen: Screen): string[] {
  if (matches.length === 0) return sentenceLines("No such stream is listened to, so nobody is known to hold anything", screen);
  const barColumns = screen.size !== null && screen.size.columns >= WIDE_COLUMNS ? BAR_WIDE : BAR_NARROW;
  const best = Math.max(...matches.map((match) => match.reusable_prefix_tokens));
  const rows = matches.map((match) => matchRow(match, tokenCount, barColumns, best));
  return [
    ...sentenceLines(verdict(matches, tokenCount, best), screen),
    "",
    ...tableLines(COLUMNS, rows, screen),
    "",
    ...sentenceLines(LEGEND, screen),
  ];
}

function verdict(matches: readonly InstanceMatch[], tokenCount: number, best: number): string {
  const tokens = formatCounted(tokenCount, "token");
  if (best === 0) return `${tokens}: nobody holds a block of them`;
  const names = new Set(matches.filter((match) => match.reusable_prefix_tokens === best).map((match) => match.instance_name));
  const holders = names.size === 1 ? [...names].join() : formatCounted(names.size, "instance");
  return `${tokens}: at best ${formatCount(best)} are held, ${formatShare(best / tokenCount)}, by ${holders}`;
}

function matchRow(match: InstanceMatch, tokenCount: number, barColumns: number, best: number): Row {
  const { instance_name: name, reusable_prefix_tokens: reusable, error, coverage } = match;
  const [device, host, disk] = [match.device_hit_tokens, match.host_only_hit_tokens, match.disk_only_hit_tokens];
  const notes: Painted[] = [];
  if (error !== null) notes.push({ text: `not synchronized: ${error}`, colour: "red" });
  else if (coverage === "partial") notes.push({ text: "partial coverage, more may be held than is known", colour: "dim" });
  return {
    cells: [
      best > 0 && reusable === best ? { text: name, colour: "bold" } : name,
      String(match.dp_rank),
      reachBar({ device, host, disk }, tokenCount, barColumns),
      formatCount(device),
      formatCount(host),
      formatCount(disk),
      tokenCount === 0 ? "–" : formatShare(reusable / tokenCount),
    ],
    notes,
  };
}

/** From the start of the prompt: what each tier adds. What is neither nothing nor everything is never drawn as such. */
export function reachBar(tiers: { device: number; host: number; disk: number }, whole: number, columns: number): string {
  const held = tiers.device + tiers.host + tiers.disk;
  const ends = [tiers.device, tiers.device + tiers.host, held].map((tokens) => Math.round((tokens / (whole || 1)) * columns));
  const least = held > 0 ? 1 : 0;
  const most = held < whole ? columns - 1 : columns;
  const [device = 0, host = 0, disk = 0] = ends.map((end) => Math.min(end, most));
  const reach = Math.max(disk, least);
  const lastTier = tiers.disk > 0 ? CELLS.disk : tiers.host > 0 ? CELLS.host : CELLS.device;
  const drawn = CELLS.device.repeat(device) + CELLS.host.repeat(host - device) + CELLS.disk.repeat(disk - host);
  return drawn.padEnd(reach, lastTier).padEnd(columns, CELLS.rest);
}
