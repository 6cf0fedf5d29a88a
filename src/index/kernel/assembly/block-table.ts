// The block table: one entry, one cache line, for each distinct block that any stream holds; one bit per stream and tier.
//
//   0            16             32           48           64
//   │ content key │ device bits │ host bits │ disk bits │        stream n is bit n % 64 of u64 n / 64
//
// An entry without a bit exists only between `ensureBlock` and the commit that sets one.

import { BLOCK_DEPTH_MAX, PAGE_BYTES, blockDirectory, blockTable } from "./layout";
import { countEntry, isEmpty, makeRoom, mergePages, openTable, pageOf, removeEntry } from "./paged-table";
import { pageAddress } from "./page-pool";

const ENTRY_LOG2: u32 = 6;
const ENTRY_BYTES: usize = 64;
const ENTRY_MASK: usize = 1023;

export function openBlockTable(): bool {
  return openTable(blockTable, blockDirectory, ENTRY_LOG2, BLOCK_DEPTH_MAX, true);
}

/** Where the search for a key begins; the address is good until a page is split or merged. */
// @ts-ignore: decorator
@inline
export function homeOf(low: u64): usize {
  return pageAddress(pageOf(blockTable, low)) + (((<usize>low) & ENTRY_MASK) << ENTRY_LOG2);
}

/** The entry with this key, or the empty one where it would be. */
// @ts-ignore: decorator
@inline
function probeFrom(home: usize, low: u64, high: u64): usize {
  const base = home & ~(PAGE_BYTES - 1);
  let entry = home;
  while ((load<u64>(entry) != low || load<u64>(entry, 8) != high) && !isEmpty(entry)) {
    entry = base + ((entry + ENTRY_BYTES) & (PAGE_BYTES - 1));
  }
  return entry;
}

// @ts-ignore: decorator
@inline
function probe(low: u64, high: u64): usize {
  return probeFrom(homeOf(low), low, high);
}

/** As `findBlock`, from the key's home. */
// @ts-ignore: decorator
@inline
export function findBlockFrom(home: usize, low: u64, high: u64): usize {
  const entry = probeFrom(home, low, high);
  return isEmpty(entry) ? 0 : entry;
}

/** The entry of a block that some stream holds, or 0. */
// @ts-ignore: decorator
@inline
export function findBlock(low: u64, high: u64): usize {
  const entry = probe(low, high);
  return isEmpty(entry) ? 0 : entry;
}

/**
 * Makes sure that the block has an entry, without a bit yet: readers see nothing of it, so this needs no lock but to split a
 * page. False when there is no memory.
 */
export function ensureBlock(low: u64, high: u64): bool {
  if (findBlock(low, high) != 0) return true;
  if (!makeRoom(blockTable, low)) return false;
  insert(probe(low, high), low, high);
  return true;
}

// @ts-ignore: decorator
@inline
function insert(entry: usize, low: u64, high: u64): void {
  countEntry(blockTable, entry);
  store<u64>(entry, low);
  store<u64>(entry, high, 8);
}

// @ts-ignore: decorator
@inline
function word(entry: usize, stream: u32, tier: u32): usize {
  return entry + 16 + ((<usize>tier) << 4) + ((<usize>(stream >> 6)) << 3);
}

/**
 * Inside the lock: the stream holds the block on the tier. The entry was ensured; where a clear of the same commit has
 * removed it since, that has left the room for it.
 */
export function setResident(low: u64, high: u64, stream: u32, tier: u32): void {
  const entry = probe(low, high);
  if (isEmpty(entry)) insert(entry, low, high);
  const bits = word(entry, stream, tier);
  store<u64>(bits, load<u64>(bits) | ((<u64>1) << (stream & 63)));
}

/** Inside the lock: the stream no longer holds the block on the tier; an entry without a bit is removed. */
export function clearResident(low: u64, high: u64, stream: u32, tier: u32): void {
  const entry = findBlock(low, high);
  if (entry == 0) return;
  const bits = word(entry, stream, tier);
  store<u64>(bits, load<u64>(bits) & ~((<u64>1) << (stream & 63)));
  const any = v128.or(v128.or(v128.load(entry, 16), v128.load(entry, 32)), v128.load(entry, 48));
  if (!v128.any_true(any)) removeEntry(blockTable, entry);
}

/** Outside the lock, after a clear: gives memory back where a page has become nearly empty. */
export function tidyBlock(low: u64): void {
  mergePages(blockTable, low);
}
