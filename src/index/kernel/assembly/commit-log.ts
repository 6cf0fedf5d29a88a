// What the batch at hand changes in the block table, not yet visible. A commit makes all of it visible under one hold of the
// lock, together with the stream's batch sequence and counts: a reader sees the state before a batch or after it.
//
// A batch with more changes than the log holds cannot be made visible in one bounded step. Its stream is taken out of
// sight first, the changes go in by small steps, and the commit brings it back: for some milliseconds it answers zero hits
// and says why, instead of a mixture.

import { clearResident, ensureBlock, homeOf, setResident, tidyBlock } from "./block-table";
import { COMMIT_BYTES, COMMIT_LOG_MAX, SYNCHRONIZED, commitLog, statusOf, visibleStreams, writerHomes } from "./layout";
import { AHEAD, fetchHomes, setHome } from "./fetch-ahead";
import { enterExclusive, leaveExclusive } from "./lock";
import { publishCounts } from "./stream-table";

/** Changes made under one hold of the lock while the stream is out of sight anyway: some tens of microseconds. */
const STEP_CHANGES: u32 = 256;

let changes: u32 = 0;
/** The batch whose changes are in the log. */
let batch: f64 = 0;
/** The reason code under which a stream is out of sight while a large batch goes in by steps. */
let largeBatchReason: u32 = 0;

export function setBatch(batchSeq: f64): void {
  batch = batchSeq;
}

export function setLargeBatchReason(reason: u32): void {
  largeBatchReason = reason;
}

// @ts-ignore: decorator
@inline
function visibleWord(stream: u32): usize {
  return visibleStreams + ((<usize>(stream >> 6)) << 3);
}

export function isVisible(stream: u32): bool {
  return ((load<u64>(visibleWord(stream)) >> (stream & 63)) & 1) != 0;
}

function setVisible(stream: u32, visible: bool): void {
  const bit = (<u64>1) << (stream & 63), at = visibleWord(stream);
  store<u64>(at, visible ? load<u64>(at) | bit : load<u64>(at) & ~bit);
}

/** Notes that the stream now holds the block on the tier; false when there is no memory for it. */
export function logSet(stream: u32, low: u64, high: u64, tier: u32): bool {
  if (!ensureBlock(low, high)) return false;
  log(stream, low, high, tier, 1);
  return true;
}

export function logClear(stream: u32, low: u64, high: u64, tier: u32): void {
  log(stream, low, high, tier, 0);
}

function log(stream: u32, low: u64, high: u64, tier: u32, set: u32): void {
  const change = commitLog + (<usize>changes) * COMMIT_BYTES;
  store<u64>(change, low);
  store<u64>(change, high, 8);
  store<u32>(change, tier, 16);
  store<u32>(change, set, 20);
  changes += 1;
  if (changes < COMMIT_LOG_MAX) return;
  if (isVisible(stream)) hide(stream, largeBatchReason, batch, 0);
  flush(stream);
}

function fetchChanges(from: u32, count: u32): void {
  for (let n: u32 = 0; n < count; n++) {
    setHome(writerHomes, n, homeOf(load<u64>(commitLog + (<usize>(from + n)) * COMMIT_BYTES)));
  }
  fetchHomes(writerHomes, count);
}

function apply(stream: u32, from: u32, to: u32): void {
  for (let n = from; n < to; n++) {
    if ((n - from) % AHEAD == 0) fetchChanges(n, min(AHEAD, to - n));
    const change = commitLog + (<usize>n) * COMMIT_BYTES;
    const low = load<u64>(change), high = load<u64>(change, 8), tier = load<u32>(change, 16);
    if (load<u32>(change, 20) != 0) setResident(low, high, stream, tier);
    else clearResident(low, high, stream, tier);
  }
}

/** Takes the log's changes in by small steps; for a stream that is out of sight. */
export function flush(stream: u32): void {
  for (let from: u32 = 0; from < changes; from += STEP_CHANGES) {
    enterExclusive();
    apply(stream, from, min(from + STEP_CHANGES, changes));
    leaveExclusive();
  }
  tidy();
}

function tidy(): void {
  for (let n: u32 = 0; n < changes; n++) {
    const change = commitLog + (<usize>n) * COMMIT_BYTES;
    if (load<u32>(change, 20) == 0) tidyBlock(load<u64>(change));
  }
  changes = 0;
}

/** The stream is synchronized, and its state, known in full or in part, is the one after this batch. */
export function commit(stream: u32, batchSeq: f64, isPartial: bool): void {
  if (!isVisible(stream)) flush(stream);
  enterExclusive();
  apply(stream, 0, changes);
  const status = statusOf(stream);
  store<u32>(status, SYNCHRONIZED);
  store<u32>(status, <u32>isPartial, 4);
  store<f64>(status, batchSeq, 24);
  publishCounts(stream);
  setVisible(stream, true);
  leaveExclusive();
  tidy();
}

/** The stream is synchronized and holds nothing; its blocks are taken out afterwards, unseen. */
export function commitEmpty(stream: u32, batchSeq: f64, isPartial: bool): void {
  enterExclusive();
  const status = statusOf(stream);
  store<u32>(status, SYNCHRONIZED);
  store<u32>(status, <u32>isPartial, 4);
  store<f64>(status, batchSeq, 24);
  memory.fill(status + 32, 0, 12);
  setVisible(stream, false);
  leaveExclusive();
}

/** The stream, out of sight, stays so; its state is the one after this batch. */
export function keep(stream: u32, batchSeq: f64): void {
  flush(stream);
  enterExclusive();
  store<f64>(statusOf(stream), batchSeq, 24);
  publishCounts(stream);
  leaveExclusive();
}

/** The stream, out of sight, holds nothing and is at no batch. */
export function forget(stream: u32): void {
  enterExclusive();
  store<u32>(statusOf(stream), 0, 4);
  memory.fill(statusOf(stream) + 24, 0, 20);
  leaveExclusive();
}

/** The stream is unsynchronized and scores zero hits; its blocks stay until the next recovery says otherwise. */
export function hide(stream: u32, reason: u32, first: f64, second: f64): void {
  enterExclusive();
  const status = statusOf(stream);
  store<u32>(status, reason);
  store<f64>(status, first, 8);
  store<f64>(status, second, 16);
  setVisible(stream, false);
  leaveExclusive();
}
