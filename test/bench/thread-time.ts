/** How long this thread is kept from everything else while something runs on it in pieces, between which others get their turn. */

export interface ThreadTime {
  /** The longest piece. */
  longestMs: number;
  /** All pieces together. */
  sumMs: number;
}

/** A turn of the event loop that takes longer had something to do: some times an empty turn, far below what matters. */
const PIECE_MS = 0.03;

/** Takes turns on the event loop, without a break, until `run` is done. */
export async function watchThread(run: () => Promise<void>): Promise<ThreadTime> {
  const time: ThreadTime = { longestMs: 0, sumMs: 0 };
  let lastMs = performance.now();
  const look = () => {
    const nowMs = performance.now();
    const turnMs = nowMs - lastMs;
    lastMs = nowMs;
    if (turnMs < PIECE_MS) return;
    time.sumMs += turnMs;
    time.longestMs = Math.max(time.longestMs, turnMs);
  };
  let isRunning = true;
  const turn = () => {
    look();
    if (isRunning) setImmediate(turn);
  };
  turn();
  await run().finally(() => {
    isRunning = false;
  });
  look();
  return time;
}
