/**
 * What a simulated engine can do, the same in every run: a dense model of 70 billion parameters with grouped-query attention on one
 * server of 8 A800 GPUs, as the traces' own cluster had. All times are estimated from the hardware's figures.
 */

import { BLOCK_TOKENS, type TracedRequest } from "./trace.ts";

const GPUS = 8;
const LAYERS = 80;
const HIDDEN_SIZE = 8192;
const PARAMETERS = 70e9;
const BYTES_PER_NUMBER = 2;

/** 312 TFLOPS of dense bfloat16 on each GPU, half of which large matrix products reach across 8 GPUs. */
const FLOPS = GPUS * 312e12 * 0.5;

/** 2 TB/s of memory on each GPU, 60 % of which decoding reaches. */
const MEMORY_BYTES_PER_SECOND = GPUS * 2e12 * 0.6;

/** 8 KV heads of 128 numbers for keys and for values in each layer: 320 KiB. */
const KV_BYTES_PER_TOKEN = LAYERS * 2 * 8 * 128 * BYTES_PER_NUMBER;

/** 80 GB on each GPU; a tenth is left for activations, and the weights are in it. */
const DEVICE_KV_BYTES = GPUS * 80e9 * 0.9 - PARAMETERS * BYTES_PER_NUMBER;

/** Half of a server's 1 TB. */
const HOST_KV_BYTES = 512e9;

/** PCIe 4.0 x16 carries 32 GB/s to each GPU, two thirds of which copies of scattered blocks reach. */
const HOST_BYTES_PER_SECOND = GPUS * 32e9 * 0.66;

/** Scheduling and launching of one prefill. */
const PREFILL_OVERHEAD_MS = 10;

export const DEVICE_BLOCKS = Math.floor(DEVICE_KV_BYTES / (KV_BYTES_PER_TOKEN * BLOCK_TOKENS));

export const HOST_BLOCKS = Math.floor(HOST_KV_BYTES / (KV_BYTES_PER_TOKEN * BLOCK_TOKENS));

/** Requests that run at once at most, the usual setting of engines; long prompts fill the device's memory before. */
export const RUNNING_REQUESTS_MAX = 128;

/** Requests that share a decode step where the work of a trace is estimated. */
const TYPICAL_BATCH = 16;

/** Two operations a parameter for each token. */
const PREFILL_MS_PER_TOKEN = (2 * PARAMETERS * 1000) / FLOPS;

/** Each token attends to those before it, half of the prompt in the mean; four operations for each pair, layer and number. */
const PREFILL_MS_PER_SQUARED_TOKEN = (4 * LAYERS * HIDDEN_SIZE * 0.5 * 1000) / FLOPS;

/** A step reads the weights once, and the KV of all requests that it advances. */
const STEP_MS = (PARAMETERS * BYTES_PER_NUMBER * 1000) / MEMORY_BYTES_PER_SECOND;
const STEP_MS_PER_TOKEN = (KV_BYTES_PER_TOKEN * 1000) / MEMORY_BYTES_PER_SECOND;

/** Time to the first token of a prompt whose first `cachedTokens`, fewer than all, need not be computed. */
export function prefillMs(inputTokens: number, cachedTokens: number): number {
  const pairs = inputTokens ** 2 - cachedTokens ** 2;
  return PREFILL_OVERHEAD_MS + (inputTokens - cachedTokens) * PREFILL_MS_PER_TOKEN + pairs * PREFILL_MS_PER_SQUARED_TOKEN;
}

/** Time to bring blocks from the host's memory onto the device. */
export function loadMs(blocks: number): number {
  return (blocks * BLOCK_TOKENS * KV_BYTES_PER_TOKEN * 1000) / HOST_BYTES_PER_SECOND;
}

/** Time in which every running request gets one token, where these hold `contextTokens` in all. */
export function stepMs(contextTokens: number): number {
  return STEP_MS + contextTokens * STEP_MS_PER_TOKEN;
}

/** Tokens that a request holds in the mean while it decodes. */
export function contextTokens({ inputTokens, outputTokens }: TracedRequest): number {
  return inputTokens + outputTokens / 2;
}

/** Blocks of the prompt that may be taken from a cache: an engine computes at least the last token. */
export function reusableBlocks({ inputTokens }: TracedRequest): number {
  return Math.floor((inputTokens - 1) / BLOCK_TOKENS);
}

/** Time that the request takes of an engine without a cache, decoding in a batch of typical size. */
export function workMs(request: TracedRequest): number {
  const decodeMs = stepMs(TYPICAL_BATCH * contextTokens(request)) / TYPICAL_BATCH;
  return prefillMs(request.inputTokens, 0) + (request.outputTokens - 1) * decodeMs;
}
