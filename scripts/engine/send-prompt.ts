/** Prompts for the doors of simulated engines. */

const ANSWER_TIMEOUT_MS = 60_000;

interface Usage {
  prompt_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
}

/** How much of the prompt was cached, once the engine at this address has worked it off. Rejects where it does not answer so. */
export async function completePrompt(address: string, prompt: Uint32Array): Promise<Usage> {
  const { usage } = (await post(`http://${address}/v1/completions`, prompt)) as { usage: Usage };
  return usage;
}

/** Fills the engine's cache; the last batch that it has published then. */
export async function warmUp(address: string, prompt: Uint32Array): Promise<number> {
  const { batch_seq: batchSeq } = (await post(`http://${address}/warm-up`, prompt)) as { batch_seq: number };
  return batchSeq;
}

async function post(url: string, prompt: Uint32Array): Promise<unknown> {
  const body = JSON.stringify({ prompt: [...prompt] });
  const answer = await fetch(url, { method: "POST", body, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return answer.json();
}
