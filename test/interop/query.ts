/** Asks a running Warmpath over HTTP, as any client would. */

import type { Block } from "./blocks.ts";
import { promptTokens } from "./blocks.ts";
import type { Counts } from "./cache-state.ts";

/** One stream's answer; test/http has the whole contract. */
export interface Match extends Counts {
  instance_name: string;
  dp_rank: number;
  synchronized: boolean;
  coverage: string;
  sequence: number;
  error: string | null;
}

/** What every stream holds of the prompt; null while Warmpath is not ready yet. Throws for any other answer than a good one. */
export async function query(port: number, prompt: readonly Block[]): Promise<Match[] | null> {
  const { loraName, cacheSalt, extraKeys } = prompt.at(0)?.namespace ?? {};
  const response = await fetch(`http://127.0.0.1:${port}/v1/internal/kv-cache/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      token_ids: promptTokens(prompt),
      lora_name: loraName,
      cache_salt: cacheSalt,
      extra_keys: extraKeys,
    }),
  });
  if (response.status === 503) return null;
  if (response.status !== 200) throw new Error(`Cannot query: ${response.status} ${await response.text()}, 200 is needed`);
  const { matches } = (await response.json()) as { matches: Match[] };
  return matches;
}
