/** From samples to figures. */

import { measure } from "mitata";
import type { Figure, Target, Unit } from "./question.ts";

/** The sample that `share` of all samples, of which there is at least one, do not exceed. */
export function quantile(samples: readonly number[], share: number): number {
  return samples.toSorted((left, right) => left - right)[Math.floor(share * (samples.length - 1))];
}

export function medianFigure(samples: readonly number[], unit: Unit, target: Target | null = null): Figure {
  return { label: "median", value: quantile(samples, 0.5), unit, target };
}

/**
 * Latency of `run`, each call timed by itself; `prepare` makes its input before each call, untimed. `spentMs` is the time spent
 * inside `run` in all.
 */
export async function measureLatency<Input>(
  prepare: () => Input,
  run: (input: Input) => void,
  spentMs: number,
  targets: { p50?: Target; p99?: Target } = {},
): Promise<Figure[]> {
  const steps = function* () {
    yield { 0: prepare, bench: (input: Input) => run(input) };
  };
  // A batch of calls has one time, and no p99: the threshold lets every call stand alone.
  const { p50, p99 } = await measure(steps, { batch_threshold: 0, min_cpu_time: spentMs * 1e6 });
  return [
    { label: "p50", value: p50 / 1000, unit: "us", target: targets.p50 ?? null },
    { label: "p99", value: p99 / 1000, unit: "us", target: targets.p99 ?? null },
  ];
}
