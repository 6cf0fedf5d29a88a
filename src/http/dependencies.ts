/** What the HTTP door needs from the rooms below it; the service hands it in. */

import type { Clock, Logger } from "#base";
import type { Namespace, StreamMatch, StreamReport } from "#domain";
import type { Fleet, HttpRegistry, OpenFleet, Subscriptions } from "#fleet";

export interface KvDirectory {
  /** Bytes of memory that the index takes now. */
  readonly bytesInUse: number;
  /** Where a prompt's tokens are written before `match`: memory shared with the index, `TOKENS_MAX` long. */
  readonly tokens: Uint32Array;
  /**
   * Matches the first `tokenCount` tokens under `namespace` with every stream, or with the streams of `instanceNames` only; in
   * any order. "busy": the index was not free in time.
   */
  match(tokenCount: number, instanceNames: ReadonlySet<string> | null, namespace: Namespace | null): StreamMatch[] | "busy";
}

export interface Readiness {
  /** Null once queries can be answered; else why not, a sentence each. */
  notReady(): string[] | null;
}

/** Which instances are there, as they are now. */
export type FleetView = Pick<Fleet, "instances" | "instance" | "refusals" | "loadOf">;

/** Which of them are listened to. */
export type SubscriptionsView = Pick<Subscriptions, "statusOf">;

/** Why the metrics of an instance tell no load; null where they do, or are not looked at. */
export type ScrapesView = Pick<OpenFleet["scrapes"], "problemOf">;

/** Where instances register, live and leave over HTTP. */
export type Registrations = Pick<HttpRegistry, "register" | "deregister" | "heartbeat">;

export interface AppDependencies {
  /** What each stream has gone through; those whose thread does not answer in time are absent. */
  reports(): Promise<StreamReport[]>;
  directory: KvDirectory;
  readiness: Readiness;
  fleet: FleetView;
  subscriptions: SubscriptionsView;
  registrations: Registrations;
  scrapes: ScrapesView;
  /** The fleet's clock. */
  clock: Clock;
  /** Receives the cause of every answer 500. */
  logger: Logger;
  /** What `X-Internal-Token` must be under `/v1/internal`; empty: no token is needed. */
  internalApiToken: string;
}
