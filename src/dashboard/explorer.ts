/** The prompt explorer: asks the query API how far each instance and rank holds a prompt, and draws the answer. */

import type { InstanceMatch } from "#http";
import { byId, type Content, element, show } from "./element.ts";
import { formatCount, formatShare } from "./format.ts";
import { problemOf } from "./live.ts";
import { type Column, table } from "./table.ts";
import { tierBar } from "./tier-bar.ts";
import { readTokenIds } from "./token-ids.ts";

const QUERY_PATH = "v1/internal/kv-cache/query";

/** The largest prompt in its widest form; a larger file is not a prompt. */
const FILE_BYTES_MAX = 16_777_216;

const COLUMNS: readonly Column[] = [
  { heading: "Instance" },
  { heading: "Rank", kind: "qualifier" },
  { heading: "Held of the prompt", kind: "bar" },
  { heading: "Device", kind: "number" },
  { heading: "Host only", kind: "number" },
  { heading: "Disk only", kind: "number" },
  { heading: "Reusable", kind: "number" },
];

/** `headers` are those that a request needs now. */
export function startExplorer(headers: () => Record<string, string>): void {
  const tokens = byId<HTMLTextAreaElement>("tokens");
  const file = byId<HTMLInputElement>("file");
  byId("explorer-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void lookUp(tokens.value, headers());
  });
  byId("open-file").addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    const [chosen] = file.files ?? [];
    if (chosen === undefined) return;
    // The same file may be opened again after it has changed.
    file.value = "";
    if (chosen.size > FILE_BYTES_MAX) return tell(`${chosen.name} is too large for a prompt: ${formatCount(chosen.size)} bytes`);
    tokens.value = await chosen.text();
    await lookUp(tokens.value, headers());
  });
}

async function lookUp(text: string, headers: Record<string, string>): Promise<void> {
  const read = readTokenIds(text);
  if (read.kind === "unreadable") return tell(read.problem);
  try {
    const response = await fetch(`${QUERY_PATH}?${namespaceFields()}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/octet-stream" },
      body: littleEndian(read.tokens),
    });
    if (!response.ok) return tell(await problemOf(response));
    const { matches } = (await response.json()) as { matches: InstanceMatch[] };
    tell("");
    show(byId("explorer-view"), ...answer(matches, read.tokens.length));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    tell("Warmpath does not answer");
  }
}

function tell(problem: string): void {
  byId("tokens-error").textContent = problem;
  byId("tokens").toggleAttribute("aria-invalid", problem !== "");
  if (problem !== "") show(byId("explorer-view"));
}

function namespaceFields(): URLSearchParams {
  const fields = { lora_name: byId<HTMLInputElement>("lora").value, cache_salt: byId<HTMLInputElement>("salt").value };
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ""));
}

/** As the API takes tokens, whatever this machine's order is. */
function littleEndian(tokens: Uint32Array): ArrayBuffer {
  const bytes = new DataView(new ArrayBuffer(tokens.length * 4));
  for (const [position, token] of tokens.entries()) bytes.setUint32(position * 4, token, true);
  return bytes.buffer;
}

function answer(matches: readonly InstanceMatch[], tokenCount: number): Content[] {
  if (matches.length === 0)
    return [element("p", { class: "note" }, "No stream is listened to, so nobody is known to hold anything.")];
  const best = Math.max(...matches.map((match) => match.reusable_prefix_tokens));
  const rows = matches.map((match) => ({
    key: `${match.dp_rank} ${match.instance_name}`,
    className: best > 0 && match.reusable_prefix_tokens === best ? "chosen" : "",
    cells: row(match, tokenCount),
  }));
  return [
    element("p", { class: "result" }, element("b", {}, formatCount(tokenCount)), " tokens; ", verdict(best, tokenCount)),
    table("Held of the prompt, by instance and rank", COLUMNS, rows),
  ];
}

function verdict(best: number, tokenCount: number): string {
  if (best === 0) return "nobody holds a block of them.";
  return `at best ${formatCount(best)} are held, ${formatShare(best / tokenCount)}. Only full blocks count.`;
}

function shareOf({ reusable_prefix_tokens: tokens }: InstanceMatch, tokenCount: number): string {
  return tokenCount === 0 ? "" : formatShare(tokens / tokenCount);
}

function row(match: InstanceMatch, tokenCount: number): (Content | Content[])[] {
  const tiers = {
    device: match.device_hit_tokens,
    host: match.host_only_hit_tokens,
    disk: match.disk_only_hit_tokens,
  };
  const state = match.error ?? (match.coverage === "partial" ? "partial coverage: earlier blocks are not known" : null);
  return [
    [
      element("strong", {}, match.instance_name),
      state === null ? null : element("small", { class: match.error ? "bad" : "" }, state),
    ],
    String(match.dp_rank),
    tierBar(tiers, tokenCount, "tokens"),
    formatCount(tiers.device),
    formatCount(tiers.host),
    formatCount(tiers.disk),
    [element("b", {}, formatCount(match.reusable_prefix_tokens)), element("small", {}, shareOf(match, tokenCount))],
  ];
}
