/**
 * What was decided lately, for whoever watches: the last decisions with their candidates, and sums over spans of time. Taking note
 * costs a decision nothing but a few additions; what is kept is bounded, and holds no token.
 */

import type { Clock } from "#base";
import type { Decision, Placement, RoutePrompt } from "#routing";
import type { DecisionSample } from "./message.ts";

/** More than one screen of them; whoever needs all has the client's logs. */
const DECISIONS_MAX = 100;

/** Of all decisions kept: a fleet of thousands keeps fewer of them. 20,000 candidates take some megabytes. */
const CANDIDATES_MAX = 20_000;

/** Milliseconds of one sample: short enough to see a change at once, long enough for a share that means something. */
export const SAMPLE_MS = 2000;

/** Ten minutes. */
const SAMPLES_MAX = 300;

export interface LoggedDecision {
  /** From 1, with each decision of this process. */
  number: number;
  /** Milliseconds since 1970. */
  atMs: number;
  requestId: string;
  tokenCount: number;
  decision: Decision;
}

export class DecisionLog {
  readonly #clock: Clock;
  /** 1970 on the clock. */
  readonly #originMs: number;
  /** Oldest first. */
  readonly #decisions: LoggedDecision[] = [];
  readonly #samples: DecisionSample[] = [];
  #candidateCount = 0;
  #decisionCount = 0;

  /** `nowMs` is the time since 1970 at this moment. */
  constructor(clock: Clock, nowMs: number) {
    this.#clock = clock;
    this.#originMs = nowMs - clock.nowMs();
  }

  /** Milliseconds since 1970, as the clock has them: it never goes back. */
  get nowMs(): number {
    return Math.round(this.#originMs + this.#clock.nowMs());
  }

  /** The number of the last decision; 0 before the first. */
  get lastNumber(): number {
    return this.#decisionCount;
  }

  /** Takes note of a decision; one that the index was too busy for is none. */
  note(decision: Decision | "busy", { requestId, tokenCount }: RoutePrompt): void {
    if (decision === "busy") return;
    const atMs = this.nowMs;
    this.#decisionCount += 1;
    this.#decisions.push({ number: this.#decisionCount, atMs, requestId, tokenCount, decision });
    this.#candidateCount += decision.candidates.length;
    while (this.#decisions.length > DECISIONS_MAX || (this.#candidateCount > CANDIDATES_MAX && this.#decisions.length > 1)) {
      this.#candidateCount -= this.#decisions.shift()?.decision.candidates.length ?? 0;
    }
    const sample = this.#sampleAt(atMs);
    sample.decisions += 1;
    if (decision.kind === "refused") sample.refused += 1;
    else addHits(sample, decision, tokenCount);
  }

  /** The decisions after number `after`, as far as they are kept, oldest first. */
  decisionsAfter(after: number): LoggedDecision[] {
    return this.#decisions.filter(({ number }) => number > after);
  }

  /** The samples of the last ten minutes that begin at `fromMs` or later, oldest first. */
  samplesFrom(fromMs: number): DecisionSample[] {
    const oldestMs = Math.max(fromMs, this.nowMs - SAMPLES_MAX * SAMPLE_MS);
    return this.#samples.filter(({ at_ms: atMs }) => atMs >= oldestMs);
  }

  #sampleAt(atMs: number): DecisionSample {
    const startMs = atMs - (atMs % SAMPLE_MS);
    const last = this.#samples.at(-1);
    if (last?.at_ms === startMs) return last;
    const sample = emptySample(startMs);
    this.#samples.push(sample);
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
    return sample;
  }
}

function emptySample(startMs: number): DecisionSample {
  return {
    at_ms: startMs,
    decisions: 0,
    refused: 0,
    prompt_tokens: 0,
    device_hit_tokens: 0,
    host_only_hit_tokens: 0,
    disk_only_hit_tokens: 0,
  };
}

/** A policy that does not look at hits says nothing of the share. */
function addHits(sample: DecisionSample, { prefill: { hits } }: Placement, tokenCount: number): void {
  if (hits === null) return;
  sample.prompt_tokens += tokenCount;
  sample.device_hit_tokens += hits.deviceTokens;
  sample.host_only_hit_tokens += hits.hostOnlyTokens;
  sample.disk_only_hit_tokens += hits.diskOnlyTokens;
}
