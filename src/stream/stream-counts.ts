/** What becomes of one stream, counted: why it was not synchronized and for how long, and how its recoveries ended. */

import type { Clock } from "#base";
import {
  RECOVERY_KINDS,
  RECOVERY_OUTCOMES,
  type RecoveryEnd,
  type RecoveryKind,
  type StreamReport,
  UNSYNCHRONIZED_REASONS,
  type Unsynchronized,
} from "#domain";
import type { StreamEvent, StreamState, TransitionLimits } from "./state.ts";

/** What recovers a stream, by what its engine offers. */
const KIND_OF: Readonly<Record<TransitionLimits["recovery"], RecoveryKind>> = {
  snapshot: "snapshot",
  replay: "replay",
  none: "anew",
};

export class StreamCounts {
  readonly #clock: Clock;
  readonly #kind: RecoveryKind;
  readonly #problems = new Uint32Array(UNSYNCHRONIZED_REASONS.length);
  readonly #ends = new Uint32Array(RECOVERY_KINDS.length * RECOVERY_OUTCOMES.length);
  #unsynchronizedMs = 0;
  /** The clock's time at which that began; null while synchronized. */
  #unsynchronizedSinceMs: number | null;

  constructor(clock: Clock, { recovery }: Pick<TransitionLimits, "recovery">) {
    this.#clock = clock;
    this.#kind = KIND_OF[recovery];
    this.#unsynchronizedSinceMs = clock.nowMs();
  }

  /** Null: synchronized. */
  status(problem: Unsynchronized | null): void {
    if (problem !== null) {
      this.#problems[UNSYNCHRONIZED_REASONS.indexOf(problem.reason)] += 1;
      this.#unsynchronizedSinceMs ??= this.#clock.nowMs();
    } else if (this.#unsynchronizedSinceMs !== null) {
      this.#unsynchronizedMs += this.#clock.nowMs() - this.#unsynchronizedSinceMs;
      this.#unsynchronizedSinceMs = null;
    }
  }

  moved(before: StreamState, event: StreamEvent, after: StreamState): void {
    const end = recoveryEnd(before, event, after, this.#kind);
    if (end !== null) this.#ends[endIndex(end)] += 1;
  }

  /** How often each reason was found. */
  get problems(): StreamReport["problems"] {
    const counts = UNSYNCHRONIZED_REASONS.map((reason, index) => [reason, this.#problems[index]] as const);
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }

  get recoveries(): StreamReport["recoveries"] {
    const ends = RECOVERY_KINDS.flatMap((kind) => RECOVERY_OUTCOMES.map((outcome) => ({ kind, outcome })));
    return ends.map((end) => ({ ...end, count: this.#ends[endIndex(end)] })).filter(({ count }) => count > 0);
  }

  get unsynchronizedMs(): number {
    const sinceMs = this.#unsynchronizedSinceMs;
    return this.#unsynchronizedMs + (sinceMs === null ? 0 : this.#clock.nowMs() - sinceMs);
  }
}

/** The recovery, or the check, that a move ends; null for all others, of which a batch in its turn is one. */
export function recoveryEnd(before: StreamState, event: StreamEvent, after: StreamState, kind: RecoveryKind): RecoveryEnd | null {
  if (before.kind === "recovering" || before.kind === "replaying") {
    if (after.kind === "recovering" || after.kind === "replaying") return null;
    if (after.kind === "live") return { kind, outcome: "completed" };
    const isPublisherLost = after.kind === "connecting" || !after.hasSubscriber;
    return { kind, outcome: isPublisherLost ? "abandoned" : "failed" };
  }
  if (before.kind !== "live" || before.check === null) return null;
  if (after.kind !== "live") return { kind: "check", outcome: "abandoned" };
  if (after.check !== null) return null;
  return { kind: "check", outcome: event.type === "adopted" ? "completed" : "failed" };
}

function endIndex({ kind, outcome }: RecoveryEnd): number {
  return RECOVERY_KINDS.indexOf(kind) * RECOVERY_OUTCOMES.length + RECOVERY_OUTCOMES.indexOf(outcome);
}
