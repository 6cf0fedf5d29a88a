/**
 * Looks at the `/metrics` of engines that do not tell their load by themselves, and reports it to the fleet. What an engine
 * answered counts only for the process that was asked: a report never reaches its successor.
 */

import { assert, type Clock, type Logger } from "#base";
import type { Instance } from "../instance.ts";
import type { FleetRegistrar } from "../registry.ts";
import { type EngineLoad, engineLoad, loadFamilies } from "./engine-load.ts";
import { readExposition } from "./exposition.ts";
import { type Fetch, fetchMetricsPage } from "./metrics-page.ts";
import { isScraped, ScrapeRound, scrapedEngine } from "./scrape-round.ts";

/** Bounds the bytes of pages that are received at once to 64 MiB. */
export const REQUESTS_MAX = 16;

/** A look that takes longer tells of a load that is gone. */
const TIMEOUT_MAX_MS = 2000;

/** The looks of an interval begin in this many steps: of 128 instances, 8 at a time. */
const STEPS = 16;
const STEP_MIN_MS = 5;

export interface MetricsScraperOptions {
  fleet: { instances(): readonly Instance[]; instance(name: string): Instance | null };
  registrar: Pick<FleetRegistrar, "reportLoad">;
  /** Time between two looks at one instance, at least 1. */
  intervalMs: number;
  /** The fleet's. */
  clock: Clock;
  logger: Logger;
  fetch?: Fetch;
}

/** Why a process's load cannot be read; it has been logged. */
interface Trouble {
  incarnation: string;
  problem: string;
}

export class MetricsScraper {
  readonly #options: MetricsScraperOptions;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;
  readonly #requests = new Map<string, Promise<void>>();
  readonly #troubles = new Map<string, Trouble>();
  readonly #stopped = new AbortController();
  #round: ScrapeRound | null = null;
  #timer: Timer | null = null;

  constructor(options: MetricsScraperOptions) {
    assert(options.intervalMs >= 1, "scrapes have an interval");
    this.#options = options;
    this.#fetch = options.fetch ?? fetch;
    this.#timeoutMs = Math.min(options.intervalMs, TIMEOUT_MAX_MS);
  }

  /** Once in its life. */
  start(): void {
    assert(this.#timer === null && !this.#stopped.signal.aborted, "a scraper starts once");
    this.#timer = setInterval(() => this.step(), Math.max(this.#options.intervalMs / STEPS, STEP_MIN_MS));
  }

  /** Resolves when no request is under way any more. Nothing is reported from the call on. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#stopped.abort();
    await Promise.all(this.#requests.values());
  }

  /** Why the last look at the instance told no load, a clause; null when it did, or none was needed. */
  problemOf(name: string): string | null {
    const trouble = this.#troubles.get(name);
    const present = this.#options.fleet.instance(name)?.registration;
    return trouble !== undefined && trouble.incarnation === present?.incarnation ? trouble.problem : null;
  }

  /** Requests under way, at most REQUESTS_MAX. */
  get requestCount(): number {
    return this.#requests.size;
  }

  /** Begins the looks whose turn has come. The timer of `start` calls it. */
  step(): void {
    const nowMs = this.#options.clock.nowMs();
    if (this.#round === null || this.#round.isOver(nowMs)) this.#round = this.#nextRound(nowMs);
    for (const name of this.#round.take(nowMs, REQUESTS_MAX - this.#requests.size)) {
      const instance = this.#options.fleet.instance(name);
      // It may have gone, changed or spoken for itself since the round began.
      if (instance === null || this.#requests.has(name) || !isScraped(instance, nowMs, this.#options.intervalMs)) continue;
      const request = this.#look(instance).finally(() => this.#requests.delete(name));
      this.#requests.set(name, request);
    }
  }

  #nextRound(nowMs: number): ScrapeRound {
    const { fleet, intervalMs } = this.#options;
    const scraped = fleet.instances().filter((instance) => isScraped(instance, nowMs, intervalMs));
    const incarnations = new Map(scraped.map(({ registration }) => [registration.name, registration.incarnation]));
    for (const [name, { incarnation }] of this.#troubles) {
      if (incarnations.get(name) !== incarnation) this.#troubles.delete(name);
    }
    return new ScrapeRound([...incarnations.keys()], this.#round?.nextStartMs(nowMs) ?? nowMs, intervalMs);
  }

  async #look(instance: Instance): Promise<void> {
    const load = await this.#readLoad(instance);
    const { name, incarnation, address } = instance.registration;
    const present = this.#options.fleet.instance(name)?.registration;
    if (this.#stopped.signal.aborted || present?.incarnation !== incarnation || present.address !== address) return;
    if (load.kind === "unknown") {
      this.#fail(instance, load.reason);
      return;
    }
    if (this.#troubles.delete(name)) this.#options.logger.info("Load of an engine can be read again", { instance: name });
    this.#options.registrar.reportLoad("scrape", name, load.report);
  }

  async #readLoad(instance: Instance): Promise<EngineLoad> {
    const engine = scrapedEngine(instance);
    assert(engine !== null, "only engines whose metrics are known are looked at");
    const { address } = instance.registration;
    const answer = await fetchMetricsPage(this.#fetch, address, this.#timeoutMs, this.#stopped.signal);
    if (answer.kind === "failed") return { kind: "unknown", reason: answer.problem };
    const exposition = readExposition(answer.page, loadFamilies(engine));
    if (exposition.kind === "unusable") return { kind: "unknown", reason: exposition.problem };
    return engineLoad(engine, exposition.samples);
  }

  /** Logs the first failure of a process only; the operator sees the latest. */
  #fail({ registration: { name, address, incarnation } }: Instance, problem: string): void {
    const isKnown = this.#troubles.get(name)?.incarnation === incarnation;
    this.#troubles.set(name, { incarnation, problem });
    if (!isKnown) this.#options.logger.warn("Cannot read the load of an engine", { instance: name, address, problem });
  }
}
