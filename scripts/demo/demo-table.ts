/** The demo's answers as tables that a newcomer understands. */

export interface Answer {
  matches: {
    instance_name: string;
    synchronized: boolean;
    sequence: number;
    device_hit_tokens: number;
    host_only_hit_tokens: number;
    reusable_prefix_tokens: number;
    error: string | null;
  }[];
}

export interface Decision {
  prefill: { instance_name: string };
  candidates?: {
    instance_name: string;
    kv_hit_ratio: number;
    waiting_requests: number | null;
    queue_cost: number;
    score: number | null;
    excluded: string | null;
    uncredited: string | null;
  }[];
}

const MATCH_HEADINGS = ["instance", "reusable prefix", "on device", "on host only", "share of prompt", "as of batch", "state"];

const CANDIDATE_HEADINGS = ["instance", "held of prompt", "requests waiting", "cost of queue", "score", "may serve"];

/** One row per instance, the best match marked. */
export function formatAnswer({ matches }: Answer, promptTokens: number): string {
  const best = Math.max(0, ...matches.map((match) => match.reusable_prefix_tokens));
  const rows = matches.map((match) => [
    match.instance_name + (best > 0 && match.reusable_prefix_tokens === best ? " *" : ""),
    `${match.reusable_prefix_tokens} tokens`,
    String(match.device_hit_tokens),
    String(match.host_only_hit_tokens),
    `${Math.round((match.reusable_prefix_tokens / promptTokens) * 100)} %`,
    String(match.sequence),
    match.error ?? "synchronized",
  ]);
  return formatTable(MATCH_HEADINGS, rows);
}

/** One row per candidate, the one chosen marked. */
export function formatDecision({ prefill, candidates = [] }: Decision): string {
  const rows = candidates.map((candidate) => [
    candidate.instance_name + (candidate.instance_name === prefill.instance_name ? " *" : ""),
    `${Math.round(candidate.kv_hit_ratio * 100)} %`,
    String(candidate.waiting_requests ?? "unknown"),
    candidate.queue_cost.toFixed(2),
    candidate.score?.toFixed(3) ?? "none",
    candidate.excluded ?? (candidate.uncredited === null ? "yes" : `yes, without credit: ${candidate.uncredited}`),
  ]);
  return formatTable(CANDIDATE_HEADINGS, rows);
}

function formatTable(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column].length)));
  const line = (cells: string[]) => `  ${cells.map((cell, column) => cell.padEnd(widths[column])).join("  ")}`.trimEnd();
  return [line(headings), line(widths.map((width) => "─".repeat(width))), ...rows.map(line)].join("\n");
}
