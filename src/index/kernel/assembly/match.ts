// Who holds how much of a prompt: one walk over its blocks for all streams at once. At each block the streams still alive are
// ANDed with those that hold it; where a stream drops out, the blocks before are its prefix. Cost: one cache line a block,
// whatever the number of streams, and nothing after the first block that nobody holds.

import { findBlockFrom, homeOf } from "./block-table";
import {
  COUNTER_PLANES,
  STATUS_BYTES,
  readerCounters,
  readerHomes,
  readerKeys,
  readerResults,
  readerStatuses,
  readerWanted,
  statuses,
  streamsMax,
  visibleStreams,
} from "./layout";
import { AHEAD, fetchHomes, homeAt, setHome } from "./fetch-ahead";
import { enterShared, leaveShared } from "./lock";

const HOST: usize = 0;
const DISK: usize = COUNTER_PLANES * 16;

/**
 * Matches the hashed prompt for the streams of the 128-bit set at `readerWanted`: writes each one's prefix to
 * `readerResults`, and the statuses of all streams, from the same moment, to `readerStatuses`. False when the lock was not
 * free in time.
 */
export function match(blocks: u32): bool {
  memory.fill(readerCounters, 0, 2 * COUNTER_PLANES * 16);
  memory.fill(readerResults, 0, (<usize>streamsMax) * 16);
  if (!enterShared()) return false;
  walk(blocks);
  memory.copy(readerStatuses, statuses, (<usize>streamsMax) * STATUS_BYTES);
  leaveShared();
  collectCounters();
  return true;
}

/** Brings the entries of the next blocks near, and notes where the search for each begins. */
function fetchBlocks(from: u32, count: u32): void {
  for (let n: u32 = 0; n < count; n++) {
    setHome(readerHomes, n, homeOf(load<u64>(readerKeys + ((<usize>(from + n)) << 4))));
  }
  fetchHomes(readerHomes, count);
}

function walk(blocks: u32): void {
  let live0 = load<u64>(readerWanted) & load<u64>(visibleStreams);
  let live1 = load<u64>(readerWanted, 8) & load<u64>(visibleStreams, 8);
  if ((live0 | live1) == 0) return;
  for (let block: u32 = 0; block < blocks; block++) {
    if (block % AHEAD == 0) fetchBlocks(block, min(AHEAD, blocks - block));
    const key = readerKeys + ((<usize>block) << 4);
    const entry = findBlockFrom(homeAt(readerHomes, block % AHEAD), load<u64>(key), load<u64>(key, 8));
    if (entry == 0) {
      endStreams(live0, 0, block);
      endStreams(live1, 64, block);
      return;
    }
    const device0 = load<u64>(entry, 16), device1 = load<u64>(entry, 24);
    const host0 = load<u64>(entry, 32), host1 = load<u64>(entry, 40);
    const next0 = live0 & (device0 | host0 | load<u64>(entry, 48));
    const next1 = live1 & (device1 | host1 | load<u64>(entry, 56));
    if ((live0 ^ next0) | (live1 ^ next1)) {
      endStreams(live0 ^ next0, 0, block);
      endStreams(live1 ^ next1, 64, block);
      live0 = next0;
      live1 = next1;
      if ((live0 | live1) == 0) return;
    }
    const slower0 = live0 & ~device0, slower1 = live1 & ~device1;
    if (slower0 | slower1) {
      count(HOST, slower0 & host0, slower1 & host1);
      count(DISK, slower0 & ~host0, slower1 & ~host1);
    }
  }
  endStreams(live0, 0, blocks);
  endStreams(live1, 64, blocks);
}

// @ts-ignore: decorator
@inline
function endStreams(streams: u64, first: u32, blocks: u32): void {
  while (streams != 0) {
    store<u32>(readerResults + ((<usize>(first + <u32>ctz(streams))) << 4), blocks);
    streams &= streams - 1;
  }
}

/**
 * Adds one to the counter of each stream in the set. The counters lie bit-sliced, plane n holding bit n of all 128, so an
 * addition is a carry that ripples through two planes on average, however many streams take part.
 */
// @ts-ignore: decorator
@inline
function count(counters: usize, carry0: u64, carry1: u64): void {
  for (let plane = readerCounters + counters; (carry0 | carry1) != 0; plane += 16) {
    const bits0 = load<u64>(plane), bits1 = load<u64>(plane, 8);
    store<u64>(plane, bits0 ^ carry0);
    store<u64>(plane, bits1 ^ carry1, 8);
    carry0 &= bits0;
    carry1 &= bits1;
  }
}

function collectCounters(): void {
  for (let plane: u32 = 0; plane < <u32>COUNTER_PLANES; plane++) {
    const at = readerCounters + ((<usize>plane) << 4);
    for (let half: u32 = 0; half < 2; half++) {
      collect(load<u64>(at + HOST + ((<usize>half) << 3)), half << 6, (<u32>1) << plane, 4);
      collect(load<u64>(at + DISK + ((<usize>half) << 3)), half << 6, (<u32>1) << plane, 8);
    }
  }
}

function collect(streams: u64, first: u32, value: u32, field: usize): void {
  while (streams != 0) {
    const result = readerResults + ((<usize>(first + <u32>ctz(streams))) << 4) + field;
    store<u32>(result, load<u32>(result) + value);
    streams &= streams - 1;
  }
}
