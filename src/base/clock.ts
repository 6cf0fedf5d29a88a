/** Time as the rest of the house sees it: handed in, so that tests own it. */

export interface Clock {
  /** Milliseconds from an arbitrary start; never goes back. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => performance.now() };
