// A stream's events become changes: of its own table at once, of the block table through the commit log. Under the shadow's
// number a whole new state is built aside, and `commitBatch` makes it the stream's.

import { commit, commitEmpty, flush, forget, hide, isVisible, keep, logClear, logSet } from "./commit-log";
import { homeOf } from "./block-table";
import { blockKey, rekey } from "./content-key";
import { AHEAD, fetchHomes, setHome } from "./fetch-ahead";
import {
  shadowStream,
  storeBytes,
  storeHashes,
  storeParent,
  storeSecret,
  storeTokens,
  tableOf,
  writerHomes,
  writerKeys,
} from "./layout";
import { entriesOf } from "./paged-table";
import {
  ENTRY_BYTES,
  NO_MEMORY,
  NO_ROOM_IN_STREAM,
  addHash,
  closeStreamTable,
  countOf,
  findHash,
  firstEntry,
  identityHome,
  identityOf,
  nextEntry,
  nextSlot,
  openStreamTable,
  pageAt,
  rememberGhost,
  setCount,
  slotCount,
  swapWithShadow,
  tiersOf,
} from "./stream-table";
import { pageAddress } from "./page-pool";
import { deriveSecret, digestHigh } from "./xxh3";

// Outcomes of a store.
export const STORED: u32 = 0;
export const BLOCK_LIMIT: u32 = 1;
export const MEMORY_LIMIT: u32 = 2;

const TIERS: u32 = 3;

/** How often, since the kernel was set up: unknown hashes in removals, in stores without tokens, changed contents of a hash. */
export let unknownRemovals: u32 = 0;
export let unknownStores: u32 = 0;
export let collisions: u32 = 0;

// The stream at hand.
let stream: u32 = 0;
let target: u32 = 0; // the stream itself, or the shadow while a replacement is being built
let tokenBytes: usize = 0;
let seed: u64 = 0;
let isCounted: bool = false;
let blocksMax: u32 = 0;
/** Where the key before the next block stands: `storeParent`, or 0 at a root. */
let parent: usize = 0;

/**
 * Turns to a stream. `counted`: stores of a hash on a tier add up and as many removals are needed (vLLM, SGLang); otherwise a
 * store is presence and one removal removes it (xLLM).
 */
export function selectStream(number: u32, blockSize: u32, seedLow: u32, counted: bool, limit: u32): void {
  if (tokenBytes == 0 || seed != <u64>seedLow) deriveSecret(storeSecret, <u64>seedLow);
  endReplacement();
  stream = number;
  target = number;
  tokenBytes = (<usize>blockSize) << 2;
  seed = <u64>seedLow;
  isCounted = counted;
  blocksMax = limit;
}

/** From here on events build a new, empty state aside; false when there is no memory for one. */
export function beginReplacement(): bool {
  endReplacement();
  if (!openStreamTable(shadowStream)) return false;
  target = shadowStream;
  return true;
}

/** Blocks that the state being built, or the stream itself, knows. */
export function blocksInState(): u32 {
  return entriesOf(tableOf(target));
}

/** Forgets the state that was being built; the stream stays as it is. */
export function endReplacement(): void {
  if (target == shadowStream) closeStreamTable(shadowStream);
  target = stream;
}

/** The next `storeBlocks` begins a prefix. */
export function fromRoot(): void {
  parent = 0;
}

/** The next `storeBlocks` continues from the block with this engine hash; false when the stream does not know it. */
export function fromParent(hashLow: u32, hashHigh: u32): bool {
  const entry = findHash(tableOf(target), identityOf((<u64>hashLow) | ((<u64>hashHigh) << 32)));
  if (entry == 0) return false;
  v128.store(storeParent, v128.load(entry, 8));
  parent = storeParent;
  return true;
}

/** Re-keys the chain before the next block with the bytes at `storeBytes`. */
export function rekeyStore(length: u32): void {
  rekey(storeBytes, <usize>length, parent, seed, storeSecret, storeParent);
  parent = storeParent;
}

/** Keys and identities of the next blocks, and their entries in both tables brought near. */
function prepareBlocks(table: usize, from: u32, count: u32): void {
  for (let n: u32 = 0; n < count; n++) {
    const low = blockKey(storeTokens + (<usize>(from + n)) * tokenBytes, tokenBytes, parent, seed, storeSecret);
    const identity = identityOf(load<u64>(storeHashes + ((<usize>(from + n)) << 3)));
    store<u64>(storeParent, low);
    store<u64>(storeParent, digestHigh, 8);
    parent = storeParent;
    const prepared = writerKeys + (<usize>n) * 24;
    store<u64>(prepared, low);
    store<u64>(prepared, digestHigh, 8);
    store<u64>(prepared, identity, 16);
    setHome(writerHomes, n * 2, identityHome(table, identity));
    setHome(writerHomes, n * 2 + 1, homeOf(low));
  }
  fetchHomes(writerHomes, count * 2);
}

/** Stores `blocks` blocks: hashes at `storeHashes`, their tokens at `storeTokens`. A further call continues the prefix. */
export function storeBlocks(blocks: u32, tier: u32): u32 {
  const table = tableOf(target);
  for (let n: u32 = 0; n < blocks; n++) {
    if (n % AHEAD == 0) prepareBlocks(table, n, min(AHEAD, blocks - n));
    const prepared = writerKeys + (<usize>(n % AHEAD)) * 24;
    const low = load<u64>(prepared), high = load<u64>(prepared, 8), identity = load<u64>(prepared, 16);
    const entry = addHash(table, identity, low, high, blocksMax);
    if (entry == NO_ROOM_IN_STREAM) return BLOCK_LIMIT;
    if (entry == NO_MEMORY) return MEMORY_LIMIT;
    if (load<u64>(entry, 8) != low || load<u64>(entry, 16) != high) changeContent(table, entry, low, high);
    if (!addTier(table, entry, tier)) return MEMORY_LIMIT;
  }
  return STORED;
}

/** How many of the hashes, from the first on, name blocks that are known. */
export function countKnown(hashes: u32): u32 {
  const table = tableOf(target);
  let known: u32 = 0;
  while (known < hashes && findHash(table, identityOf(load<u64>(storeHashes + ((<usize>known) << 3)))) != 0) known += 1;
  return known;
}

/** A store without tokens: adds the tier to blocks that are known and ignores the others. */
export function storeKnown(hashes: u32, tier: u32): u32 {
  const table = tableOf(target);
  for (let n: u32 = 0; n < hashes; n++) {
    const entry = findHash(table, identityOf(load<u64>(storeHashes + ((<usize>n) << 3))));
    if (entry == 0) unknownStores += 1;
    else if (!addTier(table, entry, tier)) return MEMORY_LIMIT;
  }
  return STORED;
}

function addTier(table: usize, entry: usize, tier: u32): bool {
  const count = countOf(entry, tier);
  if (count == 0 && target != shadowStream && !logSet(stream, load<u64>(entry, 8), load<u64>(entry, 16), tier)) return false;
  setCount(table, entry, tier, isCounted ? count + 1 : 1);
  return true;
}

/** The same engine hash now names another content: the newer one wins. */
function changeContent(table: usize, entry: usize, low: u64, high: u64): void {
  collisions += 1;
  for (let tier: u32 = 0; tier < TIERS; tier++) {
    if (countOf(entry, tier) != 0) dropTier(table, entry, tier);
  }
  store<u64>(entry, low, 8);
  store<u64>(entry, high, 16);
}

function fetchHashes(table: usize, from: u32, count: u32): void {
  for (let n: u32 = 0; n < count; n++) {
    setHome(writerHomes, n, identityHome(table, identityOf(load<u64>(storeHashes + ((<usize>(from + n)) << 3)))));
  }
  fetchHomes(writerHomes, count);
}

export function removeBlocks(hashes: u32, tier: u32): void {
  const table = tableOf(target);
  for (let n: u32 = 0; n < hashes; n++) {
    if (n % AHEAD == 0) fetchHashes(table, n, min(AHEAD, hashes - n));
    const identity = identityOf(load<u64>(storeHashes + ((<usize>n) << 3)));
    const entry = findHash(table, identity);
    const count = entry == 0 ? 0 : countOf(entry, tier);
    if (count == 0) {
      unknownRemovals += 1;
    } else if (isCounted && count > 1) {
      setCount(table, entry, tier, count - 1);
    } else {
      dropTier(table, entry, tier);
      if (tiersOf(entry) == 0) rememberGhost(table, entry);
    }
  }
}

// @ts-ignore: decorator
@inline
function dropTier(table: usize, entry: usize, tier: u32): void {
  if (target != shadowStream) logClear(stream, load<u64>(entry, 8), load<u64>(entry, 16), tier);
  setCount(table, entry, tier, 0);
}

/** Whether readers see the stream hold nothing, for a reason. */
export function isOutOfSight(): bool {
  return !isVisible(stream);
}

/** The events so far are visible, as the state after this batch. False when there is no memory for a replacement: abandon it. */
export function commitBatch(batchSeq: f64, isPartial: bool): bool {
  if (target == shadowStream && entriesOf(tableOf(shadowStream)) == 0) commitEmpty(stream, batchSeq, isPartial);
  if (!replace()) return false;
  commit(stream, batchSeq, isPartial);
  return true;
}

/** As `commitBatch`, but the stream, which is out of sight, stays so. */
export function keepBatch(batchSeq: f64): bool {
  if (!replace()) return false;
  keep(stream, batchSeq);
  return true;
}

/** A state that was built aside becomes the stream's own; false when there is no memory for its blocks. */
function replace(): bool {
  if (target != shadowStream) return true;
  if (!logReplacement()) return false;
  swapWithShadow(stream);
  endReplacement();
  return true;
}

/** The stream is out of sight for this reason; what it holds stays, and the next replacement mends it. */
export function failBatch(reason: u32, first: f64, second: f64): void {
  hide(stream, reason, first, second);
  endReplacement();
  flush(stream);
}

/**
 * As `failBatch` after a commit that found no memory: forgets the stream's blocks too, for what is set no longer agrees with
 * them.
 */
export function abandonBatch(reason: u32, first: f64, second: f64): void {
  hide(stream, reason, first, second);
  emptyStream();
}

/** Takes everything that the stream holds out of the index, also what a replacement has begun to set. It must be out of sight. */
export function emptyStream(): void {
  if (target == shadowStream) clearAll(tableOf(shadowStream));
  clearAll(tableOf(stream));
  flush(stream);
  endReplacement();
  closeStreamTable(stream);
  forget(stream);
  openStreamTable(stream); // the page it needs was given back just now
}

function clearAll(table: usize): void {
  for (let slot: u32 = 0; slot < slotCount(table); slot = nextSlot(table, slot)) {
    for (let entry = firstEntry(pageAddress(pageAt(table, slot))); entry != 0; entry = nextEntry(entry + ENTRY_BYTES)) {
      for (let tier: u32 = 0; tier < TIERS; tier++) {
        if (countOf(entry, tier) != 0) logClear(stream, load<u64>(entry, 8), load<u64>(entry, 16), tier);
      }
    }
  }
}

/** Logs what the shadow's state changes against the stream's own: first what leaves, then what comes. */
function logReplacement(): bool {
  const own = tableOf(stream), shadow = tableOf(shadowStream);
  logDifference(own, shadow, 0);
  return logDifference(shadow, own, 1);
}

/** For each block of `table`: the tiers on which `other` does not have the same content are set, or cleared. */
function logDifference(table: usize, other: usize, set: u32): bool {
  for (let slot: u32 = 0; slot < slotCount(table); slot = nextSlot(table, slot)) {
    for (let entry = firstEntry(pageAddress(pageAt(table, slot))); entry != 0; entry = nextEntry(entry + ENTRY_BYTES)) {
      const twin = findHash(other, load<u64>(entry));
      const low = load<u64>(entry, 8), high = load<u64>(entry, 16);
      const same = twin != 0 && load<u64>(twin, 8) == low && load<u64>(twin, 16) == high;
      const tiers = tiersOf(entry) & ~(same ? tiersOf(twin) : 0);
      for (let tier: u32 = 0; tier < TIERS; tier++) {
        if (((tiers >> tier) & 1) == 0) continue;
        if (set == 0) logClear(stream, low, high, tier);
        else if (!logSet(stream, low, high, tier)) return false;
      }
    }
  }
  return true;
}
