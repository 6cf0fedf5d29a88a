// XXH3-128 with a seed, for inputs of every length. Source of the algorithm: the xxHash specification and reference
// implementation (xxhash.h, XXH3_128bits_withSeed), by Yann Collet. A digest is two u64: low, high.

const P32_1: u64 = 0x9e3779b1;
const P32_2: u64 = 0x85ebca77;
const P32_3: u64 = 0xc2b2ae3d;
const P64_1: u64 = 0x9e3779b185ebca87;
const P64_2: u64 = 0xc2b2ae3d27d4eb4f;
const P64_3: u64 = 0x165667b19e3779f9;
const P64_4: u64 = 0x85ebca77c2b2ae63;
const P64_5: u64 = 0x27d4eb2f165667c5;
const PMX_1: u64 = 0x165667919e3779f9;
const PMX_2: u64 = 0x9fb21c651e98df25;

export const SECRET_BYTES: usize = 192;
const STRIPE: usize = 64;

/** The default secret of XXH3. */
const SECRET = memory.data<u8>([
  0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
  0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
  0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
  0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
  0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
  0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
  0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
  0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
  0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
  0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
  0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
  0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
]);

/** The high half of the digest last computed by this instance. */
export let digestHigh: u64 = 0;

// @ts-ignore: decorator
@inline
function mulHigh(a: u64, b: u64): u64 {
  const al = a & 0xffffffff, ah = a >> 32;
  const bl = b & 0xffffffff, bh = b >> 32;
  const low = al * bl;
  const mid = ah * bl + (low >> 32);
  const cross = al * bh + (mid & 0xffffffff);
  return ah * bh + (mid >> 32) + (cross >> 32);
}

// @ts-ignore: decorator
@inline
function fold(a: u64, b: u64): u64 {
  return (a * b) ^ mulHigh(a, b);
}

// @ts-ignore: decorator
@inline
function avalanche(h: u64): u64 {
  h = (h ^ (h >> 37)) * PMX_1;
  return h ^ (h >> 32);
}

// @ts-ignore: decorator
@inline
function avalanche64(h: u64): u64 {
  h = (h ^ (h >> 33)) * P64_2;
  h = (h ^ (h >> 29)) * P64_3;
  return h ^ (h >> 32);
}

// @ts-ignore: decorator
@inline
function secretPair(offset: usize): u64 {
  return load<u64>(SECRET + offset) ^ load<u64>(SECRET + offset + 8);
}

// @ts-ignore: decorator
@inline
function mix16(input: usize, secret: usize, seed: u64): u64 {
  return fold(load<u64>(input) ^ (load<u64>(secret) + seed), load<u64>(input, 8) ^ (load<u64>(secret, 8) - seed));
}

/** Writes the secret that `seed` selects for long inputs, SECRET_BYTES at `secret`. */
export function deriveSecret(secret: usize, seed: u64): void {
  for (let offset: usize = 0; offset < SECRET_BYTES; offset += 16) {
    store<u64>(secret + offset, load<u64>(SECRET + offset) + seed);
    store<u64>(secret + offset, load<u64>(SECRET + offset, 8) - seed, 8);
  }
}

/** Low half of the digest of `length` bytes at `input`; `digestHigh` has the other. `secret` is `seed`'s own. */
export function digest(input: usize, length: usize, seed: u64, secret: usize): u64 {
  if (length > 240) return long(input, length, secret);
  if (length > 128) return upTo240(input, length, seed);
  if (length > 16) return upTo128(input, length, seed);
  if (length > 8) return upTo16(input, length, seed);
  if (length >= 4) return upTo8(input, length, seed);
  if (length > 0) return upTo3(input, length, seed);
  digestHigh = avalanche64(seed ^ secretPair(80));
  return avalanche64(seed ^ secretPair(64));
}

function upTo3(input: usize, length: usize, seed: u64): u64 {
  const first = <u32>load<u8>(input), middle = <u32>load<u8>(input + (length >> 1)), last = <u32>load<u8>(input + length - 1);
  const low = (first << 16) | (middle << 24) | last | ((<u32>length) << 8);
  const high = rotl<u32>(bswap<u32>(low), 13);
  digestHigh = avalanche64((<u64>high) ^ ((<u64>(load<u32>(SECRET + 8) ^ load<u32>(SECRET + 12))) - seed));
  return avalanche64((<u64>low) ^ ((<u64>(load<u32>(SECRET) ^ load<u32>(SECRET + 4))) + seed));
}

function upTo8(input: usize, length: usize, seed: u64): u64 {
  const flipped = seed ^ ((<u64>bswap<u32>(<u32>seed)) << 32);
  const word = (<u64>load<u32>(input)) + ((<u64>load<u32>(input + length - 4)) << 32);
  const keyed = word ^ (secretPair(16) + flipped);
  const factor = P64_1 + ((<u64>length) << 2);
  let low = keyed * factor;
  const high = mulHigh(keyed, factor) + (low << 1);
  low ^= high >> 3;
  low = (low ^ (low >> 35)) * PMX_2;
  digestHigh = avalanche(high);
  return low ^ (low >> 28);
}

function upTo16(input: usize, length: usize, seed: u64): u64 {
  const first = load<u64>(input);
  let last = load<u64>(input + length - 8);
  const keyed = first ^ last ^ (secretPair(32) - seed);
  let low = keyed * P64_1 + ((<u64>(length - 1)) << 54);
  last ^= secretPair(48) + seed;
  const high = mulHigh(keyed, P64_1) + last + (last & 0xffffffff) * (P32_2 - 1);
  low ^= bswap<u64>(high);
  digestHigh = avalanche(mulHigh(low, P64_2) + high * P64_2);
  return avalanche(low * P64_2);
}

// The two halves of the running state of middle-sized inputs.
let middleLow: u64 = 0;
let middleHigh: u64 = 0;

// @ts-ignore: decorator
@inline
function mix32(front: usize, back: usize, secret: usize, seed: u64): void {
  middleLow = (middleLow + mix16(front, secret, seed)) ^ (load<u64>(back) + load<u64>(back, 8));
  middleHigh = (middleHigh + mix16(back, secret + 16, seed)) ^ (load<u64>(front) + load<u64>(front, 8));
}

// @ts-ignore: decorator
@inline
function finishMiddle(length: usize, seed: u64): u64 {
  digestHigh = 0 - avalanche(middleLow * P64_1 + middleHigh * P64_4 + ((<u64>length) - seed) * P64_2);
  return avalanche(middleLow + middleHigh);
}

function upTo128(input: usize, length: usize, seed: u64): u64 {
  middleLow = (<u64>length) * P64_1;
  middleHigh = 0;
  const end = input + length;
  if (length > 96) mix32(input + 48, end - 64, SECRET + 96, seed);
  if (length > 64) mix32(input + 32, end - 48, SECRET + 64, seed);
  if (length > 32) mix32(input + 16, end - 32, SECRET + 32, seed);
  mix32(input, end - 16, SECRET, seed);
  return finishMiddle(length, seed);
}

function upTo240(input: usize, length: usize, seed: u64): u64 {
  middleLow = (<u64>length) * P64_1;
  middleHigh = 0;
  for (let offset: usize = 0; offset < 128; offset += 32) mix32(input + offset, input + offset + 16, SECRET + offset, seed);
  middleLow = avalanche(middleLow);
  middleHigh = avalanche(middleHigh);
  for (let offset: usize = 128; offset + 32 <= length; offset += 32) {
    mix32(input + offset, input + offset + 16, SECRET + 3 + offset - 128, seed);
  }
  mix32(input + length - 16, input + length - 32, SECRET + 103, 0 - seed);
  return finishMiddle(length, seed);
}

// Long inputs: eight 64-bit accumulators in four vectors. They are locals, for threads share memory but not locals.

// @ts-ignore: decorator
@inline
function accumulate(sum: v128, input: usize, secret: usize): v128 {
  const data = v128.load(input);
  const keyed = v128.xor(data, v128.load(secret));
  const low = i8x16.shuffle(keyed, keyed, 0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11);
  const high = i8x16.shuffle(keyed, keyed, 4, 5, 6, 7, 12, 13, 14, 15, 4, 5, 6, 7, 12, 13, 14, 15);
  const swapped = i8x16.shuffle(data, data, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  return i64x2.add(sum, i64x2.add(i64x2.extmul_low_i32x4_u(low, high), swapped));
}

// @ts-ignore: decorator
@inline
function scramble(sum: v128, secret: usize): v128 {
  const mixed = v128.xor(v128.xor(sum, i64x2.shr_u(sum, 47)), v128.load(secret));
  return i64x2.mul(mixed, i64x2.splat(P32_1));
}

// @ts-ignore: decorator
@inline
function merge(sum: v128, secret: usize): u64 {
  return fold(i64x2.extract_lane(sum, 0) ^ load<u64>(secret), i64x2.extract_lane(sum, 1) ^ load<u64>(secret, 8));
}

function long(input: usize, length: usize, secret: usize): u64 {
  let a = i64x2(P32_3, P64_1), b = i64x2(P64_2, P64_3), c = i64x2(P64_4, P32_2), d = i64x2(P64_5, P32_1);
  const stripes = (length - 1) / STRIPE;
  const last = secret + SECRET_BYTES - STRIPE;
  for (let stripe: usize = 0; stripe < stripes; stripe++) {
    const data = input + stripe * STRIPE, key = secret + (stripe & 15) * 8;
    a = accumulate(a, data, key);
    b = accumulate(b, data + 16, key + 16);
    c = accumulate(c, data + 32, key + 32);
    d = accumulate(d, data + 48, key + 48);
    if ((stripe & 15) == 15) {
      a = scramble(a, last);
      b = scramble(b, last + 16);
      c = scramble(c, last + 32);
      d = scramble(d, last + 48);
    }
  }
  const tail = input + length - STRIPE;
  a = accumulate(a, tail, last - 7);
  b = accumulate(b, tail + 16, last + 9);
  c = accumulate(c, tail + 32, last + 25);
  d = accumulate(d, tail + 48, last + 41);
  const front = secret + 11, back = last - 11;
  digestHigh = avalanche(
    ~((<u64>length) * P64_2) + merge(a, back) + merge(b, back + 16) + merge(c, back + 32) + merge(d, back + 48),
  );
  return avalanche((<u64>length) * P64_1 + merge(a, front) + merge(b, front + 16) + merge(c, front + 32) + merge(d, front + 48));
}
