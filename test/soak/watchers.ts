/** Pages that watch the dashboard's live feed: they come, read for a while, or do not read, and go without a word. */

import type { SeededRandom } from "#sim";
import type { Tally } from "./tally.ts";

const LIVE = "/v1/internal/dashboard/live";

const STAY_MS_MIN = 50;
const STAY_MS_MAX = 3000;

/** One in so many opens the feed and does not read it. */
const DEAF_SHARE = 5;

/** One watcher after another, for ever. */
export async function watchAgainAndAgain(url: string, random: SeededRandom, tally: Tally): Promise<never> {
  for (;;) {
    const stayMs = random.integerBetween(STAY_MS_MIN, STAY_MS_MAX);
    const leaving = AbortSignal.timeout(stayMs);
    try {
      const answer = await fetch(`${url}${LIVE}`, { signal: leaving });
      tally.answered("live feed", answer.status, [200, 503]);
      if (answer.status === 503 || random.integerBelow(DEAF_SHARE) === 0) await Bun.sleep(stayMs);
      else for await (const _ of answer.body ?? []) tally.happened("live feed: read");
      // A reader that is done lets the connection go.
      await answer.body?.cancel().catch(() => {});
    } catch (error) {
      if (!leaving.aborted) tally.violated(`live feed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
