/** A fleet of instances that a test changes at will, and a scraper of it whose steps the test takes. */

import type { LogFields } from "#base";
import type { LoadReport } from "#domain";
import type { Instance, ReceivedLoad } from "../../../src/fleet/instance.ts";
import type { Fetch } from "../../../src/fleet/scrape/metrics-page.ts";
import { MetricsScraper } from "../../../src/fleet/scrape/scraper.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { instanceOf, registrationOf } from "../../support/instances.ts";

/** A small page of a vLLM engine. */
export const PAGE = 'vllm:num_requests_waiting{engine="0"} 3.0\nvllm:kv_cache_usage_perc{engine="0"} 0.25\n';

export const LOAD: LoadReport = { waitingRequests: 3, cacheUsage: 0.25 };

interface InstanceTraits {
  address?: string;
  backend?: string;
  incarnation?: string;
  state?: Instance["state"];
  loads?: readonly ReceivedLoad[];
}

/** A vLLM instance that is ACTIVE and tells nothing, but for the traits. */
export function vllm(name: string, { state = "ACTIVE", loads = [], ...registration }: InstanceTraits = {}): Instance {
  return instanceOf(registrationOf(name, { backend: "vllm", ...registration }), { state, loads });
}

export class ScrapeScene {
  readonly clock = new FakeClock();
  readonly scraper: MetricsScraper;
  /** What the scraper reported, in order. */
  readonly reports: { name: string; report: LoadReport }[] = [];
  /** What it logged: level, instance, problem. */
  readonly log: string[] = [];
  readonly #instances = new Map<string, Instance>();

  constructor(intervalMs: number, fetch?: Fetch) {
    const write =
      (level: string) =>
      (_: string, fields: LogFields = {}) => {
        this.log.push([level, fields.instance, fields.problem].filter((word) => word !== undefined).join(" "));
      };
    this.scraper = new MetricsScraper({
      fleet: {
        instances: () => [...this.#instances.values()],
        instance: (name) => this.#instances.get(name) ?? null,
      },
      registrar: {
        reportLoad: (origin, name, report) => {
          if (origin !== "scrape") throw new Error(`unexpected origin ${origin}`);
          this.reports.push({ name, report });
        },
      },
      intervalMs,
      clock: this.clock,
      logger: { info: write("INFO"), warn: write("WARN"), error: write("ERROR") },
      ...(fetch === undefined ? {} : { fetch }),
    });
  }

  /** Adds or replaces the instance of that name. */
  put(name: string, traits: InstanceTraits = {}): void {
    this.#instances.set(name, vllm(name, traits));
  }

  remove(name: string): void {
    this.#instances.delete(name);
  }

  /** One step of the scraper after so much time, and the end of all requests that are under way then. */
  async look(afterMs = 0): Promise<void> {
    this.clock.advance(afterMs);
    this.scraper.step();
    await this.idle();
  }

  /** Waits until no request is under way. */
  async idle(): Promise<void> {
    await until(() => this.scraper.requestCount === 0);
  }
}

/** Lets the event loop turn until the condition holds; the test's own timeout ends a wait in vain. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
