/** The connection to the live feed: opens it, opens it again when it breaks, and asks for the token when there must be one. */

import type { DashboardMessage } from "#http";
import { readEvents } from "./event-lines.ts";

/** Relative, so that the page also works behind a proxy that serves it under a path. */
const FEED_PATH = "v1/internal/dashboard/live";

/** One event a second: after this long without one the connection is dead, whatever the network says. */
const SILENCE_MS = 6000;

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 8000;

export type Connection =
  | { kind: "connecting" }
  | { kind: "live" }
  /** It is tried again by itself. */
  | { kind: "lost"; reason: string }
  /** It waits for `open` with a token. */
  | { kind: "token-needed"; wasWrong: boolean };

interface LiveListener {
  received(message: DashboardMessage): void;
  connectionChanged(connection: Connection): void;
}

export class Live {
  readonly #listener: LiveListener;
  #token = "";
  #retryMs = RETRY_MS_MIN;

  constructor(listener: LiveListener) {
    this.#listener = listener;
  }

  /** The headers that requests of this page need. */
  get headers(): Record<string, string> {
    return this.#token === "" ? {} : { "x-internal-token": this.#token };
  }

  /** Follows the feed with this token ("": none) until it is refused. */
  async open(token: string): Promise<void> {
    this.#token = token;
    this.#listener.connectionChanged({ kind: "connecting" });
    for (;;) {
      const end = await this.#follow();
      this.#listener.connectionChanged(end);
      if (end.kind === "token-needed") return;
      await new Promise((resolve) => setTimeout(resolve, this.#retryMs));
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
    }
  }

  async #follow(): Promise<Extract<Connection, { kind: "lost" | "token-needed" }>> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const response = await fetch(FEED_PATH, { headers: this.headers, cache: "no-store", signal: silence.signal });
      if (response.status === 401) return { kind: "token-needed", wasWrong: this.#token !== "" };
      if (!response.ok || response.body === null) return { kind: "lost", reason: await problemOf(response) };
      for await (const data of readEvents(decode(response.body))) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        this.#retryMs = RETRY_MS_MIN;
        this.#listener.received(JSON.parse(data) as DashboardMessage);
        this.#listener.connectionChanged({ kind: "live" });
      }
      return { kind: "lost", reason: "Warmpath has ended the connection" };
    } catch (error) {
      if (silence.signal.aborted) return { kind: "lost", reason: "nothing was heard for some seconds" };
      if (error instanceof TypeError) return { kind: "lost", reason: "Warmpath does not answer" };
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What a refusal says of itself. */
export async function problemOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return (JSON.parse(text) as { detail: string }).detail;
  } catch {
    return `Warmpath answered ${response.status}`;
  }
}

/** Safari cannot iterate over a stream. */
async function* decode(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield decoder.decode(value, { stream: true });
  }
}
