/** Engine hashes for property tests, as [low, high] words: any number names one, and the choice decides what the tables suffer. */

/** The hash of the n-th content. */
export type HashOf = (content: number) => readonly [low: number, high: number];

/** Distinct hashes all over the 64 bits; the first three are 0, all ones, and the one of identity 0. */
export const distinctHash: HashOf = (content) => {
  if (content === 0) return [0, 0];
  if (content === 1) return [0xffffffff, 0xffffffff];
  if (content === 2) return [0x7f4a7c15, 0x9e3779b9];
  return [Math.imul(content, 0x9e3779b1) >>> 0, Math.imul(content, 0x85ebca77) >>> 0];
};

/** Five hashes for all contents: nearly every store meets another content under its hash. */
export const scarceHash: HashOf = (content) => distinctHash(content % 5);

/**
 * Distinct hashes whose home in a stream's table is one of the last four entries of a page of 2048, in two groups of pages: all
 * probes are long and most wrap around the end of the page.
 */
export const crowdedHash: HashOf = (content) => {
  const home = 2044n + BigInt(content % 4);
  const page = content % 2 === 0 ? 0n : 0xffffffffn << 32n;
  const hash = hashOfIdentity(page | (BigInt(content) << 11n) | home);
  return [Number(hash & 0xffffffffn), Number(hash >> 32n)];
};

/** The inverse of the kernel's bijection from engine hashes to identities (MurmurHash3's finalizer, offset by a constant). */
function hashOfIdentity(identity: bigint): bigint {
  let x = identity;
  x = unmultiply(x ^ (x >> 33n), 0xc4ceb9fe1a85ec53n);
  x = unmultiply(x ^ (x >> 33n), 0xff51afd7ed558ccdn);
  return x ^ (x >> 33n) ^ 0x9e3779b97f4a7c15n;
}

/** What times the odd factor is the product, modulo 2^64; Newton's iteration doubles the right bits of the inverse. */
function unmultiply(product: bigint, factor: bigint): bigint {
  let inverse = factor;
  for (let bits = 3; bits < 64; bits *= 2) inverse = BigInt.asUintN(64, inverse * (2n - factor * inverse));
  return BigInt.asUintN(64, product * inverse);
}
