// An open-addressing table over pages, grown one page at a time (extendible hashing). The leading bits of an entry's spread
// key choose a page through the directory; within its page an entry lies at its home or, by linear probing, after it.
//
//   key (u64, first in the entry) ── high 32 bits, spread ──▶ directory[leading bits] ──▶ page
//                                 └─ low bits ──▶ home entry in the page; the page wraps around
//
// A page that is full is split in two by one more leading bit; two pages that share all but the last bit and are nearly empty
// are merged. So no step moves more than one page, whatever the size of the table. An entry whose first 16 bytes are zero is
// empty. A table that readers look into changes its pages and its directory only inside the lock.

import { enterExclusive, leaveExclusive } from "./lock";
import { PAGE_LOG2 } from "./layout";
import { givePage, pageAddress, pageRecord, takePage } from "./page-pool";

// @ts-ignore: decorator
@inline
export function directoryOf(table: usize): usize {
  return <usize>load<u32>(table);
}

// @ts-ignore: decorator
@inline
export function entriesOf(table: usize): u32 {
  return load<u32>(table, 8);
}

// @ts-ignore: decorator
@inline
function entryLog2(table: usize): u32 {
  return load<u32>(table, 12);
}

/** Bytes that its entries fill. */
export function entryBytesOf(table: usize): f64 {
  return <f64>entriesOf(table) * <f64>(1 << entryLog2(table));
}

// @ts-ignore: decorator
@inline
function isShared(table: usize): bool {
  return load<u32>(table, 20) != 0;
}

/**
 * Spreads u = key / 2^32 over [0, 2^32) as (2u + u²) / 3 with u in [0, 1): keys are twice as dense at the low end as at the
 * high one. Were they even, all pages would fill and split at the same time, and the table would swing between 40 % and 80 %
 * full; so pages split one after another and the table stays near the mean (spiral storage, Martin 1979).
 */
// @ts-ignore: decorator
@inline
function spread(key: u64): u64 {
  const u = key >> 32;
  return (((u << 1) + ((u * u) >> 32)) * 0x55555555) >> 32;
}

// @ts-ignore: decorator
@inline
function directorySlot(table: usize, key: u64): usize {
  return directoryOf(table) + ((<usize>(spread(key) >> (32 - (<u64>load<u32>(table, 4))))) << 2);
}

// @ts-ignore: decorator
@inline
export function pageOf(table: usize, key: u64): u32 {
  return load<u32>(directorySlot(table, key));
}

// @ts-ignore: decorator
@inline
export function isEmpty(entry: usize): bool {
  return (load<u64>(entry) | load<u64>(entry, 8)) == 0;
}

/** Share of a page that entries may fill, 13/16: probes stay short, and there is always an empty entry to stop at. */
// @ts-ignore: decorator
@inline
function pageEntriesMax(log2: u32): u32 {
  return ((<u32>1) << (PAGE_LOG2 - log2)) / 16 * 13;
}

/** Two pages with fewer entries than this together become one: 3/8, so that a merge is not soon followed by a split. */
// @ts-ignore: decorator
@inline
function mergeEntriesMax(log2: u32): u32 {
  return ((<u32>1) << (PAGE_LOG2 - log2)) / 8 * 3;
}

/** Gives a new table its first page; false when there is none. */
export function openTable(table: usize, directory: usize, log2: u32, depthMax: u32, shared: bool): bool {
  const page = takePage(0);
  if (page == 0) return false;
  store<u32>(table, <u32>directory);
  store<u32>(table, 0, 4);
  store<u32>(table, 0, 8);
  store<u32>(table, log2, 12);
  store<u32>(table, depthMax, 16);
  store<u32>(table, shared ? 1 : 0, 20);
  store<u32>(directory, page);
  return true;
}

/** Gives back every page of a table that no reader looks into. */
export function closeTable(table: usize): void {
  const directory = directoryOf(table), slots: u32 = (<u32>1) << load<u32>(table, 4);
  for (let slot: u32 = 0; slot < slots; ) {
    const page = load<u32>(directory + ((<usize>slot) << 2));
    slot += slots >> load<u32>(pageRecord(page), 4);
    givePage(page);
  }
  store<u32>(table, 0, 4);
  store<u32>(table, 0, 8);
}

/** Splits pages until the one for `key` has room for an entry; false when the memory or the directory has none. */
export function makeRoom(table: usize, key: u64): bool {
  const most = pageEntriesMax(entryLog2(table));
  let page = pageOf(table, key);
  while (load<u32>(pageRecord(page)) >= most) {
    if (!split(table, key, page)) return false;
    page = pageOf(table, key);
  }
  return true;
}

/** Takes an empty entry that the caller is about to fill into the counts. */
// @ts-ignore: decorator
@inline
export function countEntry(table: usize, entry: usize): void {
  const record = pageRecord(<u32>(entry >> PAGE_LOG2));
  store<u32>(record, load<u32>(record) + 1);
  store<u32>(table, entriesOf(table) + 1, 8);
}

/** Empties `entry` and moves back those after it that probed past it, so that no probe meets a hole. */
export function removeEntry(table: usize, entry: usize): void {
  const log2 = entryLog2(table);
  const bytes: usize = (<usize>1) << log2;
  const mask: usize = ((<usize>1) << (PAGE_LOG2 - log2)) - 1;
  const page = entry & ~(<usize>0xffff);
  let hole = (entry & 0xffff) >> log2;
  let at = hole;
  for (;;) {
    at = (at + 1) & mask;
    const next = page + (at << log2);
    if (isEmpty(next)) break;
    const home = (<usize>load<u64>(next)) & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    copyEntry(page + (hole << log2), next, bytes);
    hole = at;
  }
  for (let at: usize = 0; at < bytes; at += 16) v128.store(page + (hole << log2) + at, i64x2.splat(0));
  const record = pageRecord(<u32>(entry >> PAGE_LOG2));
  store<u32>(record, load<u32>(record) - 1);
  store<u32>(table, entriesOf(table) - 1, 8);
}

// @ts-ignore: decorator
@inline
function copyEntry(to: usize, from: usize, bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += 16) v128.store(to + at, v128.load(from + at));
}

/** Copies an entry to its place in a page that has room. */
function place(page: u32, entry: usize, log2: u32): void {
  const mask: usize = ((<usize>1) << (PAGE_LOG2 - log2)) - 1;
  const base = pageAddress(page);
  let at = (<usize>load<u64>(entry)) & mask;
  while (!isEmpty(base + (at << log2))) at = (at + 1) & mask;
  copyEntry(base + (at << log2), entry, (<usize>1) << log2);
  store<u32>(pageRecord(page), load<u32>(pageRecord(page)) + 1);
}

function split(table: usize, key: u64, page: u32): bool {
  const depth = load<u32>(pageRecord(page), 4);
  if (depth == load<u32>(table, 16)) return false;
  const low = takePage(depth + 1);
  if (low == 0) return false;
  const high = takePage(depth + 1);
  if (high == 0) {
    givePage(low);
    return false;
  }
  const log2 = entryLog2(table);
  const bit = 31 - (<u64>depth);
  const end = pageAddress(page) + ((<usize>1) << PAGE_LOG2);
  for (let entry = pageAddress(page); entry < end; entry += (<usize>1) << log2) {
    if (!isEmpty(entry)) place((spread(load<u64>(entry)) >> bit) & 1 ? high : low, entry, log2);
  }
  if (isShared(table)) enterExclusive();
  if (depth == load<u32>(table, 4)) doubleDirectory(table);
  point(table, key, depth, low, high);
  if (isShared(table)) leaveExclusive();
  givePage(page);
  return true;
}

function doubleDirectory(table: usize): void {
  const directory = directoryOf(table), depth = load<u32>(table, 4);
  for (let slot: i32 = ((<i32>1) << depth) - 1; slot >= 0; slot--) {
    const page = load<u32>(directory + ((<usize>slot) << 2));
    store<u32>(directory + ((<usize>slot) << 3), page);
    store<u32>(directory + ((<usize>slot) << 3), page, 4);
  }
  store<u32>(table, depth + 1, 4);
}

/** Points the directory's slots that share the first `depth` bits with `key`: the lower half to `low`, the upper to `high`. */
function point(table: usize, key: u64, depth: u32, low: u32, high: u32): void {
  const spare = load<u32>(table, 4) - depth;
  const slots: u32 = (<u32>1) << spare;
  const prefix = <u32>(spread(key) >> (32 - (<u64>depth)));
  const first = directoryOf(table) + ((<usize>prefix) << (spare + 2));
  for (let slot: u32 = 0; slot < slots; slot++) {
    store<u32>(first + ((<usize>slot) << 2), slot < slots / 2 ? low : high);
  }
}

/** Merges the page for `key` with its twin, and the result with its own, while both together are nearly empty. */
export function mergePages(table: usize, key: u64): void {
  const log2 = entryLog2(table), most = mergeEntriesMax(log2);
  for (;;) {
    const page = pageOf(table, key);
    const depth = load<u32>(pageRecord(page), 4);
    if (depth == 0 || load<u32>(pageRecord(page)) > most) return;
    const twinSlot = (<u32>(spread(key) >> (32 - (<u64>depth)))) ^ 1;
    const twin = load<u32>(directoryOf(table) + ((<usize>twinSlot) << (load<u32>(table, 4) - depth + 2)));
    if (load<u32>(pageRecord(twin), 4) != depth) return;
    if (load<u32>(pageRecord(page)) + load<u32>(pageRecord(twin)) > most) return;
    if (isShared(table)) enterExclusive();
    const end = pageAddress(twin) + ((<usize>1) << PAGE_LOG2);
    for (let entry = pageAddress(twin); entry < end; entry += (<usize>1) << log2) {
      if (!isEmpty(entry)) place(page, entry, log2);
    }
    store<u32>(pageRecord(page), depth - 1, 4);
    point(table, key, depth - 1, page, page);
    if (isShared(table)) leaveExclusive();
    givePage(twin);
  }
}
