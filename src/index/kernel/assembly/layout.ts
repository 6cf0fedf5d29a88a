// The memory map of the index. One WebAssembly memory is shared by every thread; each thread runs its own instance of this
// kernel over it, so nothing that threads share may live in a global: globals here hold addresses only, equal in each.
//
//   fixed area                                                pool of 64 KiB pages, numbered by address / 65536
//  ┌────────┬─────────┬─────────┬───────┬─────────┬─────────┬──────┬──────┬──────┬─ ─ ─
//  │ header │ streams │ tables  │ pages │ writer  │ readers │ page │ page │ page │
//  └────────┴─────────┴─────────┴───────┴─────────┴─────────┴──────┴──────┴──────┴─ ─ ─
//
// JavaScript touches the fixed area only. It lies below the initial size of the memory, so that views taken once stay valid
// when the memory grows. Areas that are rarely used cost address space, not memory: untouched pages are never committed.

import { AHEAD } from "./fetch-ahead";

export const PAGE_LOG2: u32 = 16;
export const PAGE_BYTES: usize = 65536;
/** WebAssembly's address space in pages; page numbers are below it. */
export const PAGES_MAX: u32 = 65536;

// Header. Words that different threads write lie on cache lines of their own.
export let lockWriter: usize = 0; // i32: 1 while the writer holds or wants the lock
export let lockReaders: usize = 0; // i32: readers inside
export let lockWaiting: usize = 0; // i32: readers that found the writer inside
export let visibleStreams: usize = 0; // 128 bits: streams that answer; a stream outside them scores zero hits
export let pool: usize = 0; // u32 next page never used, u32 free pages, u32 pages in use, u32 page limit

// Streams. A status is what readers copy; a table is the writer's own.
//   status, 64 B: 0 u32 reason code, or SYNCHRONIZED · 4 u32 1 when coverage is partial · 8 f64, 16 f64 the reason's numbers
//                 24 f64 batch sequence
//                 32 u32 device · 36 u32 host · 40 u32 disk blocks
export const STATUS_BYTES: usize = 64;
/** Not 0, so that memory never written does not say it. */
export const SYNCHRONIZED: u32 = 0xffff;
export let statuses: usize = 0;

//   table, 64 B: 0 u32 directory address · 4 u32 directory depth · 8 u32 entries · 12 u32 log2 of entry bytes
//                16 u32 largest depth · 20 u32 1 when readers look into it
//                of a stream: 24, 28, 32 u32 resident blocks per tier · 36 u32 ghost ring · 40 u32 ghost head · 44 u32 ghosts
export const TABLE_BYTES: usize = 64;
export let blockTable: usize = 0;
export let streamTables: usize = 0;

//   directory: u32 page numbers, 2^depth of them; the leading bits of a spread key select one
/** 2^16 pages exist, and spreading makes the directory at most one step deeper than an even one. */
export const BLOCK_DEPTH_MAX: u32 = 17;
export let blockDirectory: usize = 0;
export let streamDirectories: usize = 0;
export let streamDepthMax: u32 = 0;

//   ghost ring: u64 identities, GHOSTS_MAX of them
/** Ghosts that a stream remembers: blocks on no tier that may still be named as a parent or return without tokens. */
export const GHOSTS_MAX: u32 = 4096;
export let ghostRings: usize = 0;

//   page, 8 B: 0 u32 entries · 4 u32 depth: how many leading bits the keys in it share
export let pageRecords: usize = 0;
export let freePages: usize = 0;

// Writer's scratch.
/** Most block changes that one batch may make visible under one hold of the lock (some 100 us at most). */
export const COMMIT_LOG_MAX: u32 = 4096;
export const COMMIT_BYTES: usize = 24;
export let commitLog: usize = 0; // 0 u64 key low · 8 u64 key high · 16 u32 tier · 20 u32 1 set, 0 clear
/** Tokens of one store call; a longer event comes in several calls. The 16 bytes before them take the parent's key. */
export const STORE_TOKENS_MAX: u32 = 65536;
export let storeTokens: usize = 0;
export let storeHashes: usize = 0;
export let storeSecret: usize = 0;
export let writerHomes: usize = 0; // u32 addresses, two for each block of a round
export let writerKeys: usize = 0; // of the blocks of a round 24 B: u64 key low · 8 u64 key high · 16 u64 identity
export let storeParent: usize = 0; // 16 B: key before the next block
/** Canonical bytes of a namespace that re-key the chain in one call; the 16 bytes before them take the parent's key. */
export const KEY_BYTES_MAX: u32 = 65536;
export let storeBytes: usize = 0;

// Readers' scratch, one each.
export let readerTokens: usize = 0;
export let readerKeys: usize = 0;
export let readerResults: usize = 0; // per stream 16 B: u32 prefix blocks · u32 host-only · u32 disk-only
export let readerStatuses: usize = 0;
export let readerSecret: usize = 0;
export let readerWanted: usize = 0;
export let readerBytes: usize = 0;
export let readerParent: usize = 0; // 16 B: key before the next block, when the chain was re-keyed
export let readerHomes: usize = 0; // u32 addresses
export let readerCounters: usize = 0;
/** Bits of the per-stream counters of one match: 2^21 exceeds the tokens of a prompt. */
export const COUNTER_PLANES: usize = 21;

export let streamsMax: u32 = 0;
/** The stream number under which a replacement is built aside; readers never see it. */
export let shadowStream: u32 = 0;
export let fixedPages: u32 = 0;

let cursor: usize = 0;

function area(bytes: usize): usize {
  const start = (cursor + 63) & ~(<usize>63);
  cursor = start + bytes;
  return start;
}

/**
 * Computes the addresses for these limits; every instance over one memory calls it with the same arguments, `reader` aside.
 * Returns the pages of the fixed area, which the memory must have from the start.
 */
export function layOut(streams: u32, depthMax: u32, tokensMax: u32, readers: u32, reader: u32): u32 {
  streamsMax = streams;
  shadowStream = streams;
  cursor = __heap_base;

  lockWriter = area(64);
  lockReaders = area(64);
  lockWaiting = area(64);
  visibleStreams = area(64);
  pool = area(64);

  const tables: usize = (<usize>streams) + 1;
  statuses = area(tables * STATUS_BYTES);
  blockTable = area(TABLE_BYTES);
  streamTables = area(tables * TABLE_BYTES);
  blockDirectory = area((<usize>4) << BLOCK_DEPTH_MAX);
  streamDepthMax = depthMax;
  streamDirectories = area(tables * ((<usize>4) << depthMax));
  ghostRings = area(tables * GHOSTS_MAX * 8);
  pageRecords = area((<usize>PAGES_MAX) * 8);
  freePages = area((<usize>PAGES_MAX) * 4);

  commitLog = area((<usize>COMMIT_LOG_MAX) * COMMIT_BYTES);
  storeTokens = area(16 + (<usize>STORE_TOKENS_MAX) * 4) + 16;
  storeHashes = area((<usize>STORE_TOKENS_MAX) * 8);
  storeSecret = area(192);
  storeParent = area(16);
  storeBytes = area(16 + (<usize>KEY_BYTES_MAX)) + 16;
  writerHomes = area((<usize>AHEAD) * 8);
  writerKeys = area((<usize>AHEAD) * 24);

  for (let n: u32 = 0; n < readers; n++) {
    const tokens = area(16 + (<usize>tokensMax) * 4) + 16;
    const keys = area((<usize>tokensMax) * 16);
    const results = area((<usize>streams) * 16);
    const copies = area((<usize>streams) * STATUS_BYTES);
    const secret = area(192);
    const wanted = area(16);
    const homes = area((<usize>AHEAD) * 4);
    const counters = area(2 * COUNTER_PLANES * 16);
    const bytes = area(16 + (<usize>KEY_BYTES_MAX)) + 16;
    const parent = area(16);
    if (n == reader) {
      readerTokens = tokens;
      readerKeys = keys;
      readerResults = results;
      readerStatuses = copies;
      readerSecret = secret;
      readerWanted = wanted;
      readerHomes = homes;
      readerCounters = counters;
      readerBytes = bytes;
      readerParent = parent;
    }
  }
  fixedPages = <u32>((cursor + PAGE_BYTES - 1) >> PAGE_LOG2);
  return fixedPages;
}

// @ts-ignore: decorator
@inline
export function statusOf(stream: u32): usize {
  return statuses + (<usize>stream) * STATUS_BYTES;
}

// @ts-ignore: decorator
@inline
export function tableOf(stream: u32): usize {
  return streamTables + (<usize>stream) * TABLE_BYTES;
}
