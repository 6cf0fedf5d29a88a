/** Brings the compiled kernel into a thread: the types of its exports, and one instance over the shared memory. */

import { fileURLToPath } from "node:url";

/** The kernel's exports; `usize` and `u32` are JavaScript numbers. assembly/kernel.ts has what each does. */
export interface KernelExports {
  configure(streams: number, streamDepthMax: number, tokensMax: number, readers: number, reader: number): number;
  initialize(pageLimit: number): number;
  setLargeBatchReason(reason: number): void;
  pagesInUse(): number;
  pagesMax(): number;
  blockEntries(): number;
  entryBytes(): number;

  setBatch(batchSeq: number): void;
  selectStream(stream: number, blockSize: number, seed: number, counted: boolean, blocksMax: number): void;
  beginReplacement(): number;
  endReplacement(): void;
  blocksInState(): number;
  isOutOfSight(): number;
  fromRoot(): void;
  fromParent(hashLow: number, hashHigh: number): number;
  rekeyStore(length: number): void;
  storeBlocks(blocks: number, tier: number): number;
  countKnown(hashes: number): number;
  storeKnown(hashes: number, tier: number): number;
  removeBlocks(hashes: number, tier: number): void;
  commitBatch(batchSeq: number, isPartial: boolean): number;
  keepBatch(batchSeq: number): number;
  failBatch(reason: number, first: number, second: number): void;
  abandonBatch(reason: number, first: number, second: number): void;
  emptyStream(): void;

  beginPrompt(blockSize: number, seed: number): void;
  rekeyPrompt(length: number): void;
  hashPrompt(blocks: number): void;
  match(blocks: number): number;

  storeTokensAddress(): number;
  storeHashesAddress(): number;
  storeBytesAddress(): number;
  readerTokensAddress(): number;
  readerResultsAddress(): number;
  readerStatusesAddress(): number;
  readerWantedAddress(): number;
  readerBytesAddress(): number;

  unknownRemovals: WebAssembly.Global;
  unknownStores: WebAssembly.Global;
  collisions: WebAssembly.Global;

  digestBytes(length: number, seed: bigint): number;
  holdLock(): void;
  releaseLock(): void;
}

const KERNEL = fileURLToPath(new URL("./kernel.wasm", import.meta.url));

/** Compiles the kernel; throws when `bun scripts/build-kernel.ts` has not made it yet. */
export async function compileKernel(): Promise<WebAssembly.Module> {
  const file = Bun.file(KERNEL);
  if (!(await file.exists())) {
    throw new Error(`Cannot load the index kernel: ${KERNEL} does not exist, "bun scripts/build-kernel.ts" makes it`);
  }
  return WebAssembly.compile(await file.arrayBuffer());
}

/** An instance of the kernel for this thread. */
export function instantiateKernel(module: WebAssembly.Module, memory: WebAssembly.Memory): KernelExports {
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as KernelExports;
}
