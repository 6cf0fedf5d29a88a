/** How much the machine does for others meanwhile: latencies of a run are as good as what a busy loop notices of that. */

export interface Interference {
  /** Share of the time that the loop did not have the processor. */
  lostShare: number;
  longestPauseMs: number;
}

/** A turn of the loop that takes longer was interrupted: far above a turn, far below a scheduler's slice. */
const PAUSE_MS = 0.05;

/** Watches the clock without a break for `durationMs`; `nowMs` is the clock. */
export function watchInterference(durationMs: number, nowMs: () => number = () => performance.now()): Interference {
  const startMs = nowMs();
  let lastMs = startMs;
  let lostMs = 0;
  let longestPauseMs = 0;
  while (lastMs - startMs < durationMs) {
    const turnMs = nowMs() - lastMs;
    lastMs += turnMs;
    if (turnMs < PAUSE_MS) continue;
    lostMs += turnMs;
    longestPauseMs = Math.max(longestPauseMs, turnMs);
  }
  return { lostShare: lostMs / (lastMs - startMs), longestPauseMs };
}
