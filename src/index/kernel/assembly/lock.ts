// The reader/writer lock of the index. There is one writer. A reader waits for at most the step that the writer is in: the
// writer lets readers that wait go first. A reader gives up after READER_TIMEOUT, so that a writer that died inside cannot
// hold the main thread.

import { lockReaders, lockWaiting, lockWriter } from "./layout";

/** Looks at the lock before sleeping: about the length of one writer step, or of one walk. Waking up takes longer than that. */
const SPINS: i32 = 20_000;
/** One sleep, ns; then look again. */
const NAP: i64 = 5_000_000;
/** Naps before a reader gives up: 250 ms in all. */
const READER_NAPS: i32 = 50;
/** Naps of 50 us that the writer grants to readers that wait, so that a reader thread that ended cannot stop it. */
const COURTESY_NAP: i64 = 50_000;
const COURTESY_NAPS: i32 = 20;

function tryShared(): bool {
  if (atomic.load<i32>(lockWriter) != 0) return false;
  atomic.add<i32>(lockReaders, 1);
  if (atomic.load<i32>(lockWriter) == 0) return true;
  leaveShared();
  return false;
}

/** Enters as a reader; false when the writer did not leave in time. */
export function enterShared(): bool {
  if (tryShared()) return true;
  atomic.add<i32>(lockWaiting, 1);
  let entered = false;
  for (let n = 0; n < SPINS && !entered; n++) entered = tryShared();
  for (let n = 0; n < READER_NAPS && !entered; n++) {
    atomic.wait<i32>(lockWriter, 1, NAP);
    entered = tryShared();
  }
  atomic.sub<i32>(lockWaiting, 1);
  atomic.notify(lockWaiting, 1);
  return entered;
}

export function leaveShared(): void {
  if (atomic.sub<i32>(lockReaders, 1) == 1) atomic.notify(lockReaders, 1);
}

/** Enters as the writer, once the readers inside have left; those are never many, and never long. */
export function enterExclusive(): void {
  for (let n = 0; n < SPINS && atomic.load<i32>(lockWaiting) != 0; n++) {}
  for (let n = 0; n < COURTESY_NAPS; n++) {
    const waiting = atomic.load<i32>(lockWaiting);
    if (waiting == 0) break;
    atomic.wait<i32>(lockWaiting, waiting, COURTESY_NAP);
  }
  atomic.store<i32>(lockWriter, 1);
  for (let n = 0; ; n++) {
    const readers = atomic.load<i32>(lockReaders);
    if (readers == 0) return;
    if (n > SPINS) atomic.wait<i32>(lockReaders, readers, NAP);
  }
}

export function leaveExclusive(): void {
  atomic.store<i32>(lockWriter, 0);
  if (atomic.load<i32>(lockWaiting) != 0) atomic.notify(lockWriter, -1);
}
