// The index kernel's exports: what its two faces in TypeScript, the writer's and the reader's, call.

import { openBlockTable } from "./block-table";
import {
  blockTable,
  layOut,
  readerBytes,
  readerKeys,
  readerResults,
  readerSecret,
  readerStatuses,
  readerTokens,
  readerWanted,
  storeBytes,
  storeHashes,
  storeTokens,
  streamsMax,
  tableOf,
} from "./layout";
import { enterExclusive, leaveExclusive } from "./lock";
import { initializePool } from "./page-pool";
import { entriesOf, entryBytesOf } from "./paged-table";
import { openStreamTable } from "./stream-table";
import { deriveSecret, digest, digestHigh } from "./xxh3";

export { setBatch, setLargeBatchReason } from "./commit-log";
export { pagesInUse, pagesMax } from "./page-pool";
export { match } from "./match";
export { beginPrompt, hashPrompt, rekeyPrompt } from "./prompt";
export {
  abandonBatch,
  beginReplacement,
  blocksInState,
  collisions,
  commitBatch,
  countKnown,
  endReplacement,
  emptyStream,
  failBatch,
  fromParent,
  fromRoot,
  isOutOfSight,
  keepBatch,
  rekeyStore,
  removeBlocks,
  selectStream,
  storeBlocks,
  storeKnown,
  unknownRemovals,
  unknownStores,
} from "./stream-writer";

/** Lays the memory out for these limits; returns the pages it needs from the start. Every instance calls it, and first. */
export function configure(streams: u32, streamDepthMax: u32, tokensMax: u32, readers: u32, reader: u32): u32 {
  return layOut(streams, streamDepthMax, tokensMax, readers, reader);
}

/**
 * Makes a new memory an empty index; one instance calls it, once. Every stream has its first page from the start, so that
 * adding one cannot fail. False when the limit leaves too few pages.
 */
export function initialize(pageLimit: u32): bool {
  initializePool(pageLimit);
  if (!openBlockTable()) return false;
  for (let stream: u32 = 0; stream < streamsMax; stream++) {
    if (!openStreamTable(stream)) return false;
  }
  return true;
}

// Addresses in the fixed area.
export function storeTokensAddress(): usize {
  return storeTokens;
}

export function storeHashesAddress(): usize {
  return storeHashes;
}

export function storeBytesAddress(): usize {
  return storeBytes;
}

export function readerTokensAddress(): usize {
  return readerTokens;
}

export function readerResultsAddress(): usize {
  return readerResults;
}

export function readerStatusesAddress(): usize {
  return readerStatuses;
}

export function readerWantedAddress(): usize {
  return readerWanted;
}

export function readerBytesAddress(): usize {
  return readerBytes;
}

// For those who watch: read without the lock, as of no particular moment.

/** Distinct blocks that streams hold. */
export function blockEntries(): u32 {
  return entriesOf(blockTable);
}

/** Bytes that the entries of all tables fill, of the pages in use. */
export function entryBytes(): f64 {
  let bytes = entryBytesOf(blockTable);
  for (let stream: u32 = 0; stream <= streamsMax; stream++) bytes += entryBytesOf(tableOf(stream));
  return bytes;
}

// For tests: the digest alone, and the lock held from outside.

/** XXH3-128 of `length` bytes at `readerTokens`; writes low and high word to the front of the reader's keys, and returns where. */
export function digestBytes(length: u32, seed: u64): usize {
  deriveSecret(readerSecret, seed);
  const low = digest(readerTokens, <usize>length, seed, readerSecret);
  store<u64>(readerKeys, low);
  store<u64>(readerKeys, digestHigh, 8);
  return readerKeys;
}

export function holdLock(): void {
  enterExclusive();
}

export function releaseLock(): void {
  leaveExclusive();
}
