/** Clients that break off: in the head, in the body, before the answer, or that stall in their body until the service lets go. */

import type { SeededRandom } from "#sim";
import type { Tally } from "./tally.ts";

const PAUSE_MS = 100;

/** How long a client that breaks off is there. */
const STAY_MS_MAX = 300;

/** Longer than the service waits for a byte. */
const STALL_MS = 12_000;

/** One in so many stalls. */
const STALL_SHARE = 10;

const HEAD = [
  "POST /v1/internal/kv-cache/query HTTP/1.1",
  "host: 127.0.0.1",
  "content-type: application/octet-stream",
  "content-length: 400000",
  "",
  "",
].join("\r\n");

const PARTS = [HEAD.slice(0, 60), HEAD, HEAD + "x".repeat(100_000), HEAD + "x".repeat(400_000)];

/** One after another, for ever. */
export async function breakOffAgainAndAgain(url: string, random: SeededRandom, tally: Tally): Promise<never> {
  const port = Number(new URL(url).port);
  for (;;) {
    const isStalling = random.integerBelow(STALL_SHARE) === 0;
    const part = PARTS[random.integerBelow(PARTS.length)];
    const stayMs = isStalling ? STALL_MS : random.integerBelow(STAY_MS_MAX);
    breakOff(port, part, stayMs, tally);
    await Bun.sleep(PAUSE_MS);
  }
}

async function breakOff(port: number, part: string, stayMs: number, tally: Tally): Promise<void> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } });
    socket.write(part);
    await Bun.sleep(stayMs);
    socket.terminate();
    tally.happened("client: broke off");
  } catch {
    tally.violated("connection: refused");
  }
}
