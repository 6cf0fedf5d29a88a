/** What must hold of every good answer, whatever goes on. */

export interface QueryMatch {
  synchronized: boolean;
  device_hit_tokens: number;
  host_only_hit_tokens: number;
  disk_only_hit_tokens: number;
  reusable_prefix_tokens: number;
  error: string | null;
}

export interface RouteAnswer {
  prefill: { instance_name: string; kv_hit_ratio: number };
  candidates?: { instance_name: string; excluded: string | null }[];
}

/** What is wrong with the answer to a query of so many tokens; null: nothing. */
export function checkMatches({ matches }: { matches: QueryMatch[] }, tokenCount: number): string | null {
  for (const match of matches) {
    const { synchronized, reusable_prefix_tokens: reusable, error } = match;
    const sum = match.device_hit_tokens + match.host_only_hit_tokens + match.disk_only_hit_tokens;
    if (sum !== reusable || reusable > tokenCount) return `${reusable} of ${tokenCount} tokens are reusable, ${sum} by tier`;
    if (synchronized !== (error === null)) return `synchronized is ${synchronized} and the error ${JSON.stringify(error)}`;
    if (!synchronized && reusable > 0) return `${reusable} tokens are reusable where the stream is not synchronized`;
  }
  return null;
}

/** What is wrong with a decision; null: nothing. */
export function checkDecision({ prefill, candidates }: RouteAnswer): string | null {
  const ratio = prefill.kv_hit_ratio;
  if (!(ratio >= 0 && ratio <= 1)) return `the hit ratio is ${ratio}`;
  const chosen = candidates?.find(({ instance_name: name }) => name === prefill.instance_name);
  if (candidates !== undefined && chosen === undefined) return "the chosen instance is no candidate";
  return chosen?.excluded ? `an instance was chosen that may not serve: ${chosen.excluded}` : null;
}
