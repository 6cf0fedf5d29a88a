/**
 * The clients of a soak, in one process: some that ask as fast as they are answered, pages that watch, and connections that break
 * off. The order comes as argument; it ends when the channel to its parent closes. Reports go out all along.
 */

import { SeededRandom } from "#sim";
import { breakOffAgainAndAgain } from "./broken-connections.ts";
import { soakPrompts } from "./prompts.ts";
import { hugeRequests, nextRequest, type SoakRequest } from "./requests.ts";
import { Tally } from "./tally.ts";
import { watchAgainAndAgain } from "./watchers.ts";

export interface ClientOrder {
  url: string;
  seed: number;
  promptSeed: number;
  watchersMax: number;
}

/** Enough that the service is never without work. */
const CLIENTS = 6;

/** Pause between two rounds of the requests that take much memory. */
const HUGE_PAUSE_MS = 1000;

const REPORT_MS = 200;
const ANSWER_TIMEOUT_MS = 20_000;

const order = JSON.parse(process.argv[2] ?? "") as ClientOrder;
const random = new SeededRandom(order.seed);
const tally = new Tally();
const prompts = soakPrompts(order.promptSeed);

process.on("disconnect", () => process.exit(0));
setInterval(() => process.send?.(tally.report()), REPORT_MS);

for (let n = 0; n < CLIENTS; n++) askAgainAndAgain();
for (let n = 0; n < order.watchersMax; n++) watchAgainAndAgain(order.url, random, tally);
breakOffAgainAndAgain(order.url, random, tally);
askHugeAgainAndAgain();

async function askAgainAndAgain(): Promise<never> {
  for (;;) await ask(nextRequest(prompts, random));
}

async function askHugeAgainAndAgain(): Promise<never> {
  const requests = hugeRequests();
  for (;;) {
    for (const request of requests) await ask(request);
    await Bun.sleep(HUGE_PAUSE_MS);
  }
}

async function ask({ name, method, path, type, body, allowed, check }: SoakRequest): Promise<void> {
  try {
    const answer = await fetch(`${order.url}${path}`, {
      method,
      ...(body !== undefined && { body, headers: { "content-type": type ?? "" } }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const text = await answer.text();
    tally.answered(name, answer.status, allowed, text);
    const fault = answer.status === 200 ? check?.(JSON.parse(text)) : refusalFault(answer, text);
    if (fault) tally.violated(`${name}: ${answer.status}, ${fault}`);
  } catch (error) {
    tally.violated(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Every refusal is a problem document; one that will pass says when to try again. */
function refusalFault(answer: Response, text: string): string | null {
  if (answer.status < 400) return null;
  const type = answer.headers.get("content-type");
  if (type !== "application/problem+json") return `its type is ${type}`;
  if ((JSON.parse(text) as { status: number }).status !== answer.status) return `the problem is ${text}`;
  const isPassing = answer.status === 503 && !answer.url.endsWith("/readyz");
  return isPassing && !answer.headers.has("retry-after") ? "it has no Retry-After" : null;
}
