/**
 * The process itself, under the names that Prometheus' clients give these metrics. prom-client's own collection is not used: under
 * Bun half of it is empty or wrong (heap spaces, handles, garbage collections), and it costs milliseconds a scrape.
 */

import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { METRICS } from "./catalogue.ts";
import type { MetricsRegistry, Reading } from "./registry.ts";

/** Linux: a link for each open file, and the limits as a table. */
const OPEN_FILES = "/proc/self/fd";
const LIMITS = "/proc/self/limits";

/** How often a timer is set whose delay is measured. */
const LOOK_EVERY_MS = 10;

export interface ProcessWatch {
  /** Ends the look at timers; what is read otherwise can be read on. */
  stop(): void;
}

export function registerProcessMetrics(metrics: MetricsRegistry): ProcessWatch {
  metrics.readOne(METRICS.processCpu, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.readOne(METRICS.processMemory, () => process.memoryUsage.rss());
  const startSeconds = Math.round(Date.now() / 1000 - process.uptime());
  metrics.readOne(METRICS.processStart, () => startSeconds);
  metrics.read(METRICS.openFiles, () => whereTold(() => readdirSync(OPEN_FILES).length));
  const filesMax = whereTold(() => Number(/^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS, "utf8"))?.[1]));
  metrics.read(METRICS.openFilesMax, () => filesMax);
  const delays = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
  delays.enable();
  metrics.read(METRICS.eventLoopDelay, () => readDelays(delays));
  return { stop: () => delays.disable() };
}

function readDelays(delays: ReturnType<typeof monitorEventLoopDelay>): Reading<"statistic">[] {
  const nanoseconds = { p50: delays.percentile(50), p99: delays.percentile(99), max: delays.max };
  const isEmpty = delays.count === 0;
  delays.reset();
  return Object.entries(nanoseconds).map(([statistic, value]) => ({
    labels: { statistic },
    value: isEmpty ? 0 : value / 1e9,
  }));
}

/** Nothing where the system does not tell; no limit at all is no number. */
function whereTold(read: () => number): Reading<never>[] {
  try {
    const value = read();
    return Number.isNaN(value) ? [] : [{ labels: {}, value }];
  } catch {
    return [];
  }
}
