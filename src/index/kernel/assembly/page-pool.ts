// The pool of equal pages that every table is made of: no fragmentation, and what one table gives back any other can take.
// Only the writer takes and gives.

import { PAGE_BYTES, PAGE_LOG2, fixedPages, freePages, pageRecords, pool } from "./layout";

/** Pages by which the memory grows at a time: 4 MiB. */
const GROW_PAGES: u32 = 64;

// @ts-ignore: decorator
@inline
function nextFresh(): u32 {
  return load<u32>(pool);
}

// @ts-ignore: decorator
@inline
function freeCount(): u32 {
  return load<u32>(pool, 4);
}

export function pagesInUse(): u32 {
  return load<u32>(pool, 8);
}

/** Pages that the pool may have at most. */
export function pagesMax(): u32 {
  return load<u32>(pool, 12) - fixedPages;
}

/** Prepares a new memory; `limit` is the number of the first page that may not be used. */
export function initializePool(limit: u32): void {
  store<u32>(pool, fixedPages);
  store<u32>(pool, 0, 4);
  store<u32>(pool, 0, 8);
  store<u32>(pool, limit, 12);
}

// @ts-ignore: decorator
@inline
export function pageAddress(page: u32): usize {
  return (<usize>page) << PAGE_LOG2;
}

// @ts-ignore: decorator
@inline
export function pageRecord(page: u32): usize {
  return pageRecords + ((<usize>page) << 3);
}

/**
 * A zeroed page (one that was never used is zero already, and costs no memory until it is), or 0 when the memory may not or
 * cannot grow.
 */
export function takePage(depth: u32): u32 {
  const free = freeCount();
  let page: u32;
  if (free > 0) {
    page = load<u32>(freePages + ((<usize>(free - 1)) << 2));
    store<u32>(pool, free - 1, 4);
    memory.fill(pageAddress(page), 0, PAGE_BYTES);
  } else {
    page = nextFresh();
    const limit = load<u32>(pool, 12);
    if (page >= limit) return 0;
    const have = <u32>memory.size();
    if (page >= have && memory.grow(<i32>min(GROW_PAGES, limit - have)) < 0) return 0;
    store<u32>(pool, page + 1);
  }
  store<u32>(pageRecord(page), 0);
  store<u32>(pageRecord(page), depth, 4);
  store<u32>(pool, pagesInUse() + 1, 8);
  return page;
}

export function givePage(page: u32): void {
  const free = freeCount();
  store<u32>(freePages + ((<usize>free) << 2), page);
  store<u32>(pool, free + 1, 4);
  store<u32>(pool, pagesInUse() - 1, 8);
}
