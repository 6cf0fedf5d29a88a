/** Standard error, a line at a time. Not `console.error`: on a terminal Bun paints whatever that writes red. */

import { writeSync } from "node:fs";

export const STANDARD_ERROR = 2;

/** A reader that has left no room for this long does not read: the line is lost, and the service goes on. */
const ROOM_TIMEOUT_MS = 100;

/** Writes the line before it returns; where nobody reads standard error any more the line is lost, for there is no one to tell. */
export function writeStandardError(line: string): void {
  const bytes = Buffer.from(`${line}\n`);
  let waitedMs = 0;
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(STANDARD_ERROR, bytes, written);
    } catch (error) {
      // A parent may have made its end of the pipe one that does not wait.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || waitedMs === ROOM_TIMEOUT_MS) return;
      Bun.sleepSync(1);
      waitedMs += 1;
    }
  }
}
