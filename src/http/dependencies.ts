/** What the HTTP door needs from the rooms below it; the service hands it in. */

import type { Clock, Logger } from "#base";
import type { LoadBalancePolicy, Namespace, StreamMatch, StreamReport } from "#domain";
import type { Fleet, HttpRegistry, OpenFleet, Subscriptions } from "#fleet";
import type { IndexFigures } from "#index";
import type { MetricsRegistry } from "#metrics";
import type { Router } from "#routing";
import type { BodyBudget } from "./body-budget.ts";
import type { DecisionLog } from "./dashboard/decision-log.ts";

export interface KvDirectory {
  /** How full the index is. */
  readonly figures: IndexFigures;
  /** Where a prompt's tokens are written before `match`: memory shared with the index, `TOKENS_MAX` long. */
  readonly tokens: Uint32Array;
  /**
   * Matches the first `tokenCount` tokens under `namespace` with every stream, or with the streams of `instanceNames` only; in
   * any order. "busy": the index was not free in time.
   */
  match(tokenCount: number, instanceNames: ReadonlySet<string> | null, namespace: Namespace | null): StreamMatch[] | "busy";
}

export interface Readiness {
  /** Null while queries can be answered; else why not, a sentence each. */
  notReady(): string[] | null;
  /** The same for decisions, which need the fleet alone: without the index they are made, with no credit. */
  notRouting(): string[] | null;
  /** Null while a request could be placed, or, where nobody is to be routed to, while queries can be answered. */
  notServing(): Unready | null;
}

export interface Unready {
  /** Something is not known yet, or no instance of those that are known can serve. */
  kind: "not-ready" | "no-instance";
  /** A sentence each. */
  reasons: string[];
}

/** Which instances are there, as they are now. */
type FleetView = Pick<Fleet, "instances" | "instance" | "refusals" | "loadOf" | "ignored">;

/** Which registries are heard. */
type LoopView = Pick<OpenFleet["loop"], "connections">;

/** Which of them are listened to. */
type SubscriptionsView = Pick<Subscriptions, "statusOf">;

/** Why the metrics of an instance tell no load; null where they do, or are not looked at. */
type ScrapesView = Pick<OpenFleet["scrapes"], "problemOf">;

/** Where requests go. */
export type RouterView = Pick<Router, "route" | "preview" | "step" | "exclusions">;

/** What the router's policy has in its books. */
type RouterBooksView = Pick<Router, "books" | "counts">;

/** Where instances register, live and leave over HTTP. */
export type Registrations = Pick<HttpRegistry, "register" | "deregister" | "heartbeat">;

export interface AppDependencies {
  /** What each stream has gone through; those whose thread does not answer in time are absent. */
  reports(): Promise<StreamReport[]>;
  /** How often their thread has crashed or hung. */
  ingestCrashes(): number;
  /** Where the app registers what it and the rooms below it have to tell; one app's own. */
  metrics: MetricsRegistry;
  directory: KvDirectory;
  readiness: Readiness;
  fleet: FleetView;
  loop: LoopView;
  subscriptions: SubscriptionsView;
  router: RouterView;
  routerBooks: RouterBooksView;
  registrations: Registrations;
  scrapes: ScrapesView;
  /** What the router has decided lately. */
  decisionLog: DecisionLog;
  /** How an instance is chosen, and how many blocks one stream may have: what the dashboard tells of the settings. */
  policy: LoadBalancePolicy;
  maxBlocksPerStream: number;
  /** The fleet's clock. */
  clock: Clock;
  /** Receives the cause of every answer 500. */
  logger: Logger;
  /** What `X-Internal-Token` must be for whatever reads prompts or changes state; empty: no token is needed. */
  internalApiToken: string;
}

/** What routes need whose bodies bring prompts. */
export interface PromptDependencies extends AppDependencies {
  /** Room for the bodies of all of them together. */
  promptBodies: BodyBudget;
}
