/**
 * A simulated engine as a process has it: its sockets, its HTTP door, and prompts that are worked off one after another. The door
 * answers `/health`, and `POST /v1/completions` with a `prompt` of token ids as OpenAI's API has it, but for the text: only what
 * was cached is told. `POST /warm-up` with such a prompt fills the cache at once, and tells the batch that says so.
 */

import { SimulatedEngine } from "#sim";
import type { EngineOptions } from "./engine-options.ts";

/** Pause between two looks at what waits; also the longest that a snapshot request waits. */
const ROUND_MS = 20;

/** What a prompt takes: this long, and longer for each token that must be computed. */
const PROMPT_MS = 120;
const TOKEN_MS = 0.12;

/** Prompts beyond are refused with 503: what waits longer than half a minute is not waited for any more. */
const WAITING_PROMPTS_MAX = 32;

const ANSWER_TIMEOUT_SECONDS = 60;

/** Room for a prompt of 65,536 tokens as JSON, more than the simulated device holds. */
const BODY_BYTES_MAX = 1 << 20;

/** The ports that are listened to. */
export interface EnginePorts {
  http: number;
  event: number;
  replay: number;
}

interface WaitingPrompt {
  tokens: Uint32Array;
  finish: (cachedTokens: number) => void;
}

export class ServedEngine {
  readonly #engine: SimulatedEngine;
  readonly #door: Bun.Server<undefined>;
  readonly #rounds: Timer;
  readonly #deviceBlocksMax: number;
  readonly #waiting: WaitingPrompt[] = [];
  /** Ends the prompt that is worked off. */
  #finish: (() => void) | null = null;
  #busyUntilMs = 0;

  /** Listens on all three ports. Throws when one of them is taken. */
  constructor({ name, bind, httpPort, eventPort, replayPort, topic, blockSize, deviceBlocks, hostBlocks }: EngineOptions) {
    const [chainSeed] = crypto.getRandomValues(new BigUint64Array(1));
    const cache = { blockSize, deviceBlocksMax: deviceBlocks, hostBlocksMax: hostBlocks, chainSeed } as const;
    this.#deviceBlocksMax = deviceBlocks;
    this.#engine = new SimulatedEngine({
      name,
      topic,
      cache: { ...cache, offloadForm: "without-tokens" },
      host: bind,
      eventPort,
      replayPort,
    });
    this.#door = Bun.serve({
      hostname: bind,
      port: httpPort,
      idleTimeout: ANSWER_TIMEOUT_SECONDS,
      maxRequestBodySize: BODY_BYTES_MAX,
      routes: {
        "/health": new Response("alive"),
        "/v1/completions": { POST: (request) => this.#complete(request) },
        "/warm-up": { POST: (request) => this.#warmUp(request) },
      },
      fetch: () => new Response("Not found", { status: 404 }),
    });
    this.#rounds = setInterval(() => this.#round(), ROUND_MS);
  }

  get ports(): EnginePorts {
    const { endpoint, replayEndpoint } = this.#engine.stream;
    return { http: Number(this.#door.port), event: portOf(endpoint), replay: portOf(replayEndpoint) };
  }

  /** How busy it is, in the words of xLLM's heartbeats. */
  get load(): { waiting_requests_num: number; gpu_cache_usage_perc: number } {
    return {
      waiting_requests_num: this.#waiting.length + (this.#finish === null ? 0 : 1),
      gpu_cache_usage_perc: this.#engine.cache.deviceBlocks / this.#deviceBlocksMax,
    };
  }

  /** Frees the ports; prompts that wait get no answer. */
  async close(): Promise<void> {
    clearInterval(this.#rounds);
    await this.#door.stop(true);
    this.#engine.close();
  }

  async #complete(request: Request): Promise<Response> {
    const tokens = await readPrompt(request);
    if (tokens === null) return noPrompt();
    if (this.#waiting.length >= WAITING_PROMPTS_MAX) return new Response("Too many prompts wait", { status: 503 });
    const cachedTokens = await new Promise<number>((finish) => this.#waiting.push({ tokens, finish }));
    const usage = { prompt_tokens: tokens.length, prompt_tokens_details: { cached_tokens: cachedTokens } };
    return Response.json({ object: "text_completion", choices: [], usage });
  }

  async #warmUp(request: Request): Promise<Response> {
    const tokens = await readPrompt(request);
    if (tokens === null) return noPrompt();
    this.#engine.step([tokens]);
    return Response.json({ batch_seq: this.#engine.batchSeq });
  }

  #round(): void {
    this.#engine.serve();
    const nowMs = performance.now();
    if (nowMs < this.#busyUntilMs) return;
    this.#finish?.();
    this.#finish = null;
    const prompt = this.#waiting.shift();
    if (prompt === undefined) return;
    const { cachedTokens } = this.#engine.step([prompt.tokens]);
    this.#busyUntilMs = nowMs + PROMPT_MS + (prompt.tokens.length - cachedTokens) * TOKEN_MS;
    this.#finish = () => prompt.finish(cachedTokens);
  }
}

/** Null where the body brings none. */
async function readPrompt(request: Request): Promise<Uint32Array | null> {
  const body: unknown = await request.json().catch(() => null);
  const prompt = typeof body === "object" && body !== null && "prompt" in body ? body.prompt : null;
  const isToken = (token: unknown) => Number.isInteger(token) && Number(token) >= 0 && Number(token) < 2 ** 32;
  return Array.isArray(prompt) && prompt.every(isToken) ? Uint32Array.from(prompt) : null;
}

function noPrompt(): Response {
  return new Response('"prompt" must be a list of token ids', { status: 400 });
}

function portOf(endpoint: string): number {
  return Number(endpoint.slice(endpoint.lastIndexOf(":") + 1));
}
