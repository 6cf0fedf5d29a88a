/** The ingest thread, with ways to break it: a test says over a channel which, and hears that it was understood. */

import { StreamIndex } from "../../src/stream/stream-index.ts";
import "../../src/stream/ingest-thread.ts";

/**
 * `throw`: an error outside the loop. `break-index`: an error inside it, with the next batch. `hang`: no turn ever ends.
 * `stall`: one takes long.
 */
export type Breakage = "throw" | "break-index" | "hang" | "stall";

/** Long beside what the main thread does meanwhile, short of a hang. */
const STALL_MS = 300;

export const CHANNEL = "warmpath-test-breakage";
export const UNDERSTOOD = "understood";

if (!Bun.isMainThread) {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    channel.postMessage(UNDERSTOOD);
    switch (data as Breakage) {
      case "throw":
        throw new Error("thrown by the test");
      case "break-index":
        StreamIndex.prototype.apply = () => {
          throw new Error("index broken by the test");
        };
        break;
      case "stall":
        Bun.sleepSync(STALL_MS);
        break;
      case "hang":
        for (;;);
    }
  };
}
