/**
 * The index's shared memory and the limits it is laid out for. A handle goes to every thread that reads or writes the index;
 * it holds no function, so it can be posted.
 */

import { TOKENS_MAX, UNSYNCHRONIZED_REASONS, type UnsynchronizedReason } from "#domain";
import { compileKernel, instantiateKernel, type KernelExports } from "./kernel/load.ts";

/** Threads that may read at the same time: the main thread and one more. */
const READERS_MAX = 2;

/** The width of an entry's bit sets. */
export const STREAMS_MAX = 128;

/** WebAssembly's address space: 65,536 pages of 64 KiB. The last one is not used: its end is no address. */
const PAGES_MAX = 65_536;
const PAGE_BYTES = 65_536;

/** The memory must exist before the kernel can say how much it needs: what the kernel declares as its least. */
const FIRST_PAGES = 16;

/** Blocks in a page of a stream's table right after a split, the least there are while the stream grows. */
const BLOCKS_AFTER_SPLIT = 832;

/** Bytes of a block held by one stream: 64 and 32 in pages that are 56 % full in the mean. */
const MEAN_BYTES_PER_BLOCK = 172;

/** The status code of a stream that is synchronized; assembly/layout.ts has it too. All others are reasons. */
const SYNCHRONIZED = 0xffff;

export interface IndexLimits {
  maxStreams: number;
  maxBlocksPerStream: number;
  /** Bytes that the index may use, its fixed area included; at most, and by default, 4 GiB. */
  maxBytes?: number;
}

export interface IndexHandle {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  limits: Required<IndexLimits>;
}

/** Makes an empty index. Throws when a limit is out of range. */
export async function createIndex(limits: IndexLimits): Promise<IndexHandle> {
  const { maxStreams, maxBlocksPerStream, maxBytes = PAGES_MAX * PAGE_BYTES } = limits;
  if (maxStreams < 1 || maxStreams > STREAMS_MAX) {
    throw new RangeError(`Cannot create the index: ${maxStreams} streams, 1 to ${STREAMS_MAX} are possible`);
  }
  if (maxBlocksPerStream < 1)
    throw new RangeError(`Cannot create the index: ${maxBlocksPerStream} blocks per stream, at least 1 is needed`);
  const module = await compileKernel();
  const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: PAGES_MAX, shared: true });
  const handle = { module, memory, limits: { maxStreams, maxBlocksPerStream, maxBytes } };
  const kernel = instantiateKernel(module, memory);
  const fixedPages = configureKernel(kernel, handle.limits, 0);
  memory.grow(fixedPages - FIRST_PAGES);
  if (!kernel.initialize(Math.min(PAGES_MAX - 1, Math.floor(maxBytes / PAGE_BYTES)))) {
    const leastBytes = (fixedPages + maxStreams + 1) * PAGE_BYTES;
    throw new RangeError(`Cannot create the index: ${maxBytes} bytes of memory, at least ${leastBytes} are needed`);
  }
  return handle;
}

/** This thread's instance of the kernel over the index; `reader` chooses the scratch area that its matches use. */
export function attachKernel(handle: IndexHandle, reader: number): KernelExports {
  if (reader < 0 || reader >= READERS_MAX) throw new RangeError(`Cannot attach reader ${reader}: 0 to ${READERS_MAX - 1} exist`);
  const kernel = instantiateKernel(handle.module, handle.memory);
  configureKernel(kernel, handle.limits, reader);
  return kernel;
}

function configureKernel(kernel: KernelExports, limits: IndexLimits, reader: number): number {
  // Two steps deeper than even pages need: one for the spread of the keys, one for chance.
  const streamDepthMax = Math.max(0, Math.ceil(Math.log2(limits.maxBlocksPerStream / BLOCKS_AFTER_SPLIT))) + 2;
  kernel.setLargeBatchReason(reasonCode("large-batch"));
  return kernel.configure(limits.maxStreams, streamDepthMax, TOKENS_MAX, READERS_MAX, reader);
}

/** Bytes that the limits allow the index to want, in the mean; where that exceeds `maxBytes`, memory ends first. */
export function worstCaseBytes(limits: IndexLimits): number {
  return limits.maxStreams * limits.maxBlocksPerStream * MEAN_BYTES_PER_BLOCK;
}

/** Bytes that tables take now; falls when blocks leave. */
export function bytesInUse(kernel: KernelExports): number {
  return kernel.pagesInUse() * PAGE_BYTES;
}

/** How full the index is: for those who watch, each number as of its own moment. */
export interface IndexFigures {
  /** Distinct blocks that streams hold. */
  entries: number;
  /** Bytes that tables take now, and may take at most. */
  bytesInUse: number;
  bytesMax: number;
  /** Bytes of memory taken from the system so far, which are kept. */
  bytesReserved: number;
  /** Share of the tables' bytes that entries fill, 0 to 1. */
  loadFactor: number;
}

export function indexFigures(kernel: KernelExports, { memory }: IndexHandle): IndexFigures {
  const inUse = bytesInUse(kernel);
  return {
    entries: kernel.blockEntries() >>> 0,
    bytesInUse: inUse,
    bytesMax: kernel.pagesMax() * PAGE_BYTES,
    bytesReserved: memory.buffer.byteLength,
    loadFactor: kernel.entryBytes() / inUse,
  };
}

/** A reason's code in a stream's status. */
export function reasonCode(reason: UnsynchronizedReason): number {
  return UNSYNCHRONIZED_REASONS.indexOf(reason);
}

/** The reason with this code; null for the code that says "synchronized". */
export function reasonOf(code: number): UnsynchronizedReason | null {
  return code === SYNCHRONIZED ? null : UNSYNCHRONIZED_REASONS[code];
}
