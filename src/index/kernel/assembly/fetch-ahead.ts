// Cache misses that overlap. Entries lie at random places of a large memory: looked up one after the other, each waits for its own
// miss. So the homes of the next entries are computed first and read all at once, by loads that depend on nothing; the look-ups
// that follow find them in the cache. 32 is about the number of misses that a core has under way.

/** Entries fetched at once. */
export const AHEAD: u32 = 32;

/** The loads' use: without one the compiler would leave them out. */
let fetched: u64 = 0;

// @ts-ignore: decorator
@inline
export function setHome(homes: usize, n: u32, home: usize): void {
  store<u32>(homes + ((<usize>n) << 2), <u32>home);
}

// @ts-ignore: decorator
@inline
export function homeAt(homes: usize, n: u32): usize {
  return <usize>load<u32>(homes + ((<usize>n) << 2));
}

/** Brings the cache lines of the first `count` homes near. */
// @ts-ignore: decorator
@inline
export function fetchHomes(homes: usize, count: u32): void {
  let sum: u64 = 0;
  for (let n: u32 = 0; n < count; n++) sum ^= load<u64>(homeAt(homes, n));
  fetched = sum;
}
