/** Warmpath's HTTP door as a command asks it: one answer or a CommandError, with the words for whoever called. */

import type { ProblemDocument } from "#http";
import { CommandError, REFUSED, UNREACHABLE } from "./errors.ts";

export interface DoorOptions {
  /** http or https, with whatever path Warmpath is behind. */
  url: string;
  /** Null: none is sent. */
  token: string | null;
  /** For a whole answer. */
  timeoutMs: number;
}

/** How OpenSSL's and Bun's codes name a certificate that nobody vouches for. */
const CERTIFICATE_CODE = /CERT|UNABLE_TO_VERIFY/;

/** What Warmpath answered. */
export type Answer<Body> =
  | { isOk: true; body: Body; text: string }
  /** A refusal in Warmpath's words. */
  | { isOk: false; problem: ProblemDocument; text: string };

export class WarmpathDoor {
  readonly #options: DoorOptions;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** Throws a CommandError: 1 when the service refuses, 3 when it cannot be reached. With `body` it is a POST of JSON. */
  async ask<Body>(path: string, body?: object): Promise<{ body: Body; text: string }> {
    const answer = await this.look<Body>(path, body);
    if (answer.isOk) return answer;
    throw new CommandError(REFUSED, refusalMessage(answer.problem), answer.text);
  }

  /** The same, where a refusal is an answer like any other. */
  async look<Body>(path: string, body?: object): Promise<Answer<Body>> {
    const url = new URL(path, withSlash(this.#options.url)).href;
    const { response, text } = await this.#fetch(url, body);
    const parsed = parse(text);
    if (response.ok && parsed !== null) return { isOk: true, body: parsed as Body, text };
    if (isProblem(response, parsed)) return { isOk: false, problem: parsed, text };
    const type = response.headers.get("content-type") ?? "no type";
    throw unreachable(
      `Cannot read what ${url} answers: found status ${response.status} of type ${JSON.stringify(type)}, needed Warmpath's ` +
        "own answer; is the URL right?",
    );
  }

  async #fetch(url: string, body: object | undefined): Promise<{ response: Response; text: string }> {
    const { token, timeoutMs } = this.#options;
    const headers = {
      ...(token !== null && { "x-internal-token": token }),
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    try {
      const response = await fetch(url, {
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
        headers,
        signal: AbortSignal.timeout(timeoutMs),
        // Nobody else is told the prompt and the token.
        redirect: "manual",
      });
      return { response, text: await response.text() };
    } catch (error) {
      throw unreachable(`Cannot reach Warmpath at ${this.#options.url}: ${failure(error as Error, timeoutMs)}`);
    }
  }
}

function unreachable(message: string): CommandError {
  return new CommandError(UNREACHABLE, message);
}

function failure(error: Error & { code?: unknown }, timeoutMs: number): string {
  if (error.name === "TimeoutError")
    return `no answer within ${timeoutMs / 1000} s; a longer --timeout, or a look at its log, is needed`;
  if (error.code === "ECONNREFUSED") return "nothing listens there; a running Warmpath, or its --url or WARMPATH_URL, is needed";
  if (CERTIFICATE_CODE.test(String(error.code)))
    return `${error.message}; its issuer's certificate, named by NODE_EXTRA_CA_CERTS, is needed`;
  return `${error.message}; its --url or WARMPATH_URL is needed`;
}

function refusalMessage({ detail, errors = [], type }: ProblemDocument): string {
  const hint =
    type === "/problems/token-required" ? ["give it as WARMPATH_INTERNAL_API_TOKEN, or in a file with --token-file"] : [];
  // A single error is what the detail says.
  const reasons = errors.length > 1 || type === "/problems/no-instance" ? errors.map((error) => error.detail) : [];
  return [detail, ...reasons, ...hint].join("\n  ");
}

function parse(text: string): object | null {
  try {
    const parsed = JSON.parse(text);
    return typeof parsed === "object" ? parsed : null;
  } catch {
    return null;
  }
}

function isProblem({ headers }: Response, parsed: object | null): parsed is ProblemDocument {
  return parsed !== null && (headers.get("content-type")?.startsWith("application/problem+json") ?? false);
}

/** A path behind a proxy is kept: paths are sought below it. */
function withSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}
