/** What the page knows: the last state of the fleet, and the samples and decisions of all messages so far, within bounds. */

import type { DashboardMessage, DecisionEntry, DecisionSample } from "#http";

/** As many as the service keeps. */
const DECISIONS_MAX = 100;

/** The longest span of the charts, and the shortest. */
const HISTORY_MS = 600_000;
const HISTORY_MS_MIN = 120_000;

/** Milliseconds of one sample. */
export const SAMPLE_MS = 2000;

type Fleet = NonNullable<DashboardMessage["fleet"]>;

export type Instance = Fleet["instances"][number];
export type Stream = Instance["streams"][number];

export class Model {
  /** Null before the first message. */
  last: DashboardMessage | null = null;
  /** The last one that was told; null while the index was busy at every message so far. */
  fleet: Fleet | null = null;
  /** Newest first. */
  decisions: DecisionEntry[] = [];
  /** Oldest first. */
  samples: DecisionSample[] = [];

  /** Messages may overlap: what is known already is told again in its newest form. */
  receive(message: DashboardMessage): void {
    // A process that was started anew counts its decisions from 1 again.
    const newest = this.decisions[0]?.at_ms ?? 0;
    if (message.decisions.some(({ number, at_ms: atMs }) => atMs > newest && number <= (this.decisions[0]?.number ?? 0))) {
      this.decisions = [];
    }
    const told = new Set(message.decisions.map(({ number }) => number));
    const kept = this.decisions.filter(({ number }) => !told.has(number));
    this.decisions = [...message.decisions.toReversed(), ...kept].slice(0, DECISIONS_MAX);

    const spans = new Map(this.samples.map((sample) => [sample.at_ms, sample]));
    for (const sample of message.samples) spans.set(sample.at_ms, sample);
    const fromMs = message.at_ms - HISTORY_MS;
    this.samples = [...spans.values()].filter(({ at_ms: atMs }) => atMs >= fromMs).sort((one, other) => one.at_ms - other.at_ms);

    this.last = message;
    this.fleet = message.fleet ?? this.fleet;
  }

  /** How far back there is something to show. */
  get historyMs(): number {
    const firstMs = this.samples[0]?.at_ms ?? Number.POSITIVE_INFINITY;
    return Math.min(Math.max((this.last?.at_ms ?? 0) - firstMs, HISTORY_MS_MIN), HISTORY_MS);
  }

  /** The sum of the samples of the last `spanMs`. */
  sumOver(spanMs: number): DecisionSample {
    const fromMs = (this.last?.at_ms ?? 0) - spanMs;
    return this.samples.filter(({ at_ms: atMs }) => atMs >= fromMs).reduce(add, { ...NOTHING, at_ms: fromMs });
  }
}

/** A span in which nothing was decided. */
export const NOTHING: DecisionSample = {
  at_ms: 0,
  decisions: 0,
  refused: 0,
  prompt_tokens: 0,
  device_hit_tokens: 0,
  host_only_hit_tokens: 0,
  disk_only_hit_tokens: 0,
};

function add(sum: DecisionSample, sample: DecisionSample): DecisionSample {
  return {
    at_ms: sum.at_ms,
    decisions: sum.decisions + sample.decisions,
    refused: sum.refused + sample.refused,
    prompt_tokens: sum.prompt_tokens + sample.prompt_tokens,
    device_hit_tokens: sum.device_hit_tokens + sample.device_hit_tokens,
    host_only_hit_tokens: sum.host_only_hit_tokens + sample.host_only_hit_tokens,
    disk_only_hit_tokens: sum.disk_only_hit_tokens + sample.disk_only_hit_tokens,
  };
}

/** The share of the prompts' tokens that the chosen instances held; null where there was nothing to look at. */
export function hitShare(sample: DecisionSample): number | null {
  if (sample.prompt_tokens === 0) return null;
  return (sample.device_hit_tokens + sample.host_only_hit_tokens + sample.disk_only_hit_tokens) / sample.prompt_tokens;
}
