/** The demo's answers as a table that a newcomer understands. */

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

const HEADINGS = ["instance", "reusable prefix", "on device", "on host only", "share of prompt", "as of batch", "state"];

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
  const widths = HEADINGS.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column].length)));
  const line = (cells: string[]) => `  ${cells.map((cell, column) => cell.padEnd(widths[column])).join("  ")}`.trimEnd();
  return [line(HEADINGS), line(widths.map((width) => "─".repeat(width))), ...rows.map(line)].join("\n");
}
