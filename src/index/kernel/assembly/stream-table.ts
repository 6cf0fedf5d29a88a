// One stream's own table: engine hash → content key and how often the engine stored it on each tier.
//
//   0          8             24            30        32
//   │ identity │ content key │ u16 × 3 counts │ u16 1: in the ghost ring │
//
// The identity is the engine hash after a bijection that spreads its bits. A block on no tier is a ghost: it may still be
// named as a parent, and an event without tokens may bring it back. GHOSTS_MAX of them are kept, the oldest leaves first.

import { GHOSTS_MAX, PAGE_BYTES, ghostRings, shadowStream, statusOf, streamDepthMax, streamDirectories, tableOf } from "./layout";
import { closeTable, countEntry, directoryOf, entriesOf, isEmpty, makeRoom, mergePages, openTable, pageOf, removeEntry } from "./paged-table";
import { pageAddress, pageRecord } from "./page-pool";

const ENTRY_LOG2: u32 = 5;
export const ENTRY_BYTES: usize = 32;
const ENTRY_MASK: usize = 2047;
const TIERS: u32 = 3;

/** No entry: the stream is at its limit of blocks. */
export const NO_ROOM_IN_STREAM: usize = 0;
/** No entry: the memory is used up. */
export const NO_MEMORY: usize = 1;

/** Empties the table of a stream, or of the shadow; false when there is no page for it. */
export function openStreamTable(stream: u32): bool {
  const table = tableOf(stream);
  const directory = directoryOf(table) != 0 ? directoryOf(table) : streamDirectories + (<usize>stream) * ((<usize>4) << streamDepthMax);
  if (!openTable(table, directory, ENTRY_LOG2, streamDepthMax, false)) return false;
  store<u64>(table, 0, 24);
  store<u32>(table, 0, 32);
  if (load<u32>(table, 36) == 0) store<u32>(table, <u32>(ghostRings + (<usize>stream) * GHOSTS_MAX * 8), 36);
  store<u64>(table, 0, 40);
  return true;
}

export function closeStreamTable(stream: u32): void {
  closeTable(tableOf(stream));
}

/** The stream takes the table that was built under the shadow's number, and the shadow its old one. */
export function swapWithShadow(stream: u32): void {
  const own = tableOf(stream), shadow = tableOf(shadowStream);
  for (let offset: usize = 0; offset < 64; offset += 8) {
    const kept = load<u64>(own + offset);
    store<u64>(own + offset, load<u64>(shadow + offset));
    store<u64>(shadow + offset, kept);
  }
}

/** A bijection of 64 bits (MurmurHash3's finalizer), moved so that hash 0, which engines do send, is not identity 0. */
// @ts-ignore: decorator
@inline
export function identityOf(hash: u64): u64 {
  let x = hash ^ 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

/** Where the search for an identity begins; the address is good until a page is split or merged. */
// @ts-ignore: decorator
@inline
export function identityHome(table: usize, identity: u64): usize {
  return pageAddress(pageOf(table, identity)) + (((<usize>identity) & ENTRY_MASK) << ENTRY_LOG2);
}

/** The entry with this identity, or the empty one where it would be. */
// @ts-ignore: decorator
@inline
function probe(table: usize, identity: u64): usize {
  const home = identityHome(table, identity);
  const base = home & ~(PAGE_BYTES - 1);
  let entry = home;
  while (load<u64>(entry) != identity && !isEmpty(entry)) entry = base + ((entry + ENTRY_BYTES) & (PAGE_BYTES - 1));
  return entry;
}

/** The entry of a block that the stream knows, ghosts included, or 0. */
// @ts-ignore: decorator
@inline
export function findHash(table: usize, identity: u64): usize {
  const entry = probe(table, identity);
  return isEmpty(entry) ? 0 : entry;
}

/**
 * The entry for the hash, added with this key if new; NO_ROOM_IN_STREAM or NO_MEMORY. Ghosts make room first. Adding moves
 * entries: addresses taken before are void.
 */
export function addHash(table: usize, identity: u64, low: u64, high: u64, blocksMax: u32): usize {
  let entry = probe(table, identity);
  if (!isEmpty(entry)) return entry;
  while (entriesOf(table) >= blocksMax) {
    if (!forgetGhost(table)) return NO_ROOM_IN_STREAM;
  }
  if (!makeRoom(table, identity)) return NO_MEMORY;
  entry = probe(table, identity);
  countEntry(table, entry);
  store<u64>(entry, identity);
  store<u64>(entry, low, 8);
  store<u64>(entry, high, 16);
  return entry;
}

// @ts-ignore: decorator
@inline
export function countOf(entry: usize, tier: u32): u32 {
  return <u32>load<u16>(entry + 24 + ((<usize>tier) << 1));
}

/** Sets how often the engine stored the block on the tier, at most 65,535, and keeps the stream's count of blocks. */
// @ts-ignore: decorator
@inline
export function setCount(table: usize, entry: usize, tier: u32, count: u32): void {
  const before = countOf(entry, tier);
  store<u16>(entry + 24 + ((<usize>tier) << 1), <u16>min<u32>(count, 0xffff));
  const blocks = table + 24 + ((<usize>tier) << 2);
  store<u32>(blocks, load<u32>(blocks) + <u32>(before == 0 && count != 0) - <u32>(before != 0 && count == 0));
}

/** The tiers that hold the block, bit n for tier n. */
// @ts-ignore: decorator
@inline
export function tiersOf(entry: usize): u32 {
  return <u32>(countOf(entry, 0) != 0) | (<u32>(countOf(entry, 1) != 0) << 1) | (<u32>(countOf(entry, 2) != 0) << 2);
}

/**
 * Remembers a block that has left its last tier; the oldest ghost is forgotten when there are too many. A block that is in the
 * ring already, since it left before and came back, keeps its turn.
 */
export function rememberGhost(table: usize, entry: usize): void {
  if (load<u16>(entry, 30) != 0) return;
  store<u16>(entry, 1, 30);
  const identity = load<u64>(entry);
  if (load<u32>(table, 44) == GHOSTS_MAX) forgetGhost(table);
  const head = load<u32>(table, 40), ghosts = load<u32>(table, 44);
  const at = (head + ghosts) % GHOSTS_MAX;
  store<u64>((<usize>load<u32>(table, 36)) + ((<usize>at) << 3), identity);
  store<u32>(table, ghosts + 1, 44);
}

/** Forgets the oldest ghost; false when there is none. One that came back to life in the meantime stays. */
function forgetGhost(table: usize): bool {
  const head = load<u32>(table, 40), ghosts = load<u32>(table, 44);
  if (ghosts == 0) return false;
  const identity = load<u64>((<usize>load<u32>(table, 36)) + ((<usize>head) << 3));
  store<u32>(table, (head + 1) % GHOSTS_MAX, 40);
  store<u32>(table, ghosts - 1, 44);
  const entry = findHash(table, identity);
  store<u16>(entry, 0, 30);
  if (tiersOf(entry) == 0) {
    removeEntry(table, entry);
    mergePages(table, identity);
  }
  return true;
}

/** Copies the counts that readers see into the stream's status; inside the lock. */
export function publishCounts(stream: u32): void {
  const table = tableOf(stream), status = statusOf(stream);
  for (let tier: u32 = 0; tier < TIERS; tier++) {
    store<u32>(status + 32 + ((<usize>tier) << 2), load<u32>(table + 24 + ((<usize>tier) << 2)));
  }
}

// Walking: every page of a table once, in directory order.

/** The first directory slot of the page after the one at `slot`. */
export function nextSlot(table: usize, slot: u32): u32 {
  return slot + slotCount(table) / ((<u32>1) << load<u32>(pageRecord(pageAt(table, slot)), 4));
}

// @ts-ignore: decorator
@inline
export function slotCount(table: usize): u32 {
  return (<u32>1) << load<u32>(table, 4);
}

// @ts-ignore: decorator
@inline
export function pageAt(table: usize, slot: u32): u32 {
  return load<u32>(directoryOf(table) + ((<usize>slot) << 2));
}

/** The first entry in use at or after `from` and before the end of its page, or 0. */
export function nextEntry(from: usize): usize {
  if ((from & (PAGE_BYTES - 1)) == 0) return 0;
  return firstEntry(from);
}

/** The first entry in use at or after `from`, which is within its page, or 0. */
export function firstEntry(from: usize): usize {
  const end = (from | (PAGE_BYTES - 1)) + 1;
  for (let entry = from; entry < end; entry += ENTRY_BYTES) {
    if (!isEmpty(entry)) return entry;
  }
  return 0;
}
