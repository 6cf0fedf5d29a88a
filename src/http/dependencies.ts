/** What the HTTP door needs from the rooms below it; the service hands it in. */

import type { Logger } from "#base";
import type { StreamMatch } from "#domain";

export interface KvDirectory {
  /** Where a prompt's tokens are written before `match`: memory shared with the index, `TOKENS_MAX` long. */
  readonly tokens: Uint32Array;
  /**
   * Matches the first `tokenCount` tokens with every stream, or with the streams of `instanceNames` only; in any order.
   * "busy": the index was not free in time.
   */
  match(tokenCount: number, instanceNames: ReadonlySet<string> | null): StreamMatch[] | "busy";
}

export interface Readiness {
  /** Null once queries can be answered; else why not, a sentence each. */
  notReady(): string[] | null;
}

export interface AppDependencies {
  directory: KvDirectory;
  readiness: Readiness;
  /** Receives the cause of every answer 500. */
  logger: Logger;
  /** What `X-Internal-Token` must be under `/v1/internal`; empty: no token is needed. */
  internalApiToken: string;
}
