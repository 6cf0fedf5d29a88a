/** A writer that stops within a step: takes the index's lock at the first message and gives it back at the second. */

import type { IndexHandle } from "#index";
import type { KernelExports } from "../../src/index/kernel/load.ts";
import { attachKernel } from "../../src/index/memory.ts";

declare const self: Worker;

let kernel: KernelExports | null = null;

self.onmessage = ({ data }: MessageEvent<IndexHandle | null>) => {
  if (data !== null) {
    kernel = attachKernel(data, 1);
    kernel.holdLock();
  } else {
    kernel?.releaseLock();
  }
  postMessage(data !== null ? "held" : "released");
};
