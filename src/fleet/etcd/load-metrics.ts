/** LoadMetrics, the JSON that xLLM's master writes for each instance. Whether the numbers make sense is the fleet's to judge. */

import { Type } from "@sinclair/typebox";
import type { LoadReport } from "#domain";
import { createJsonReader, type ReadValue } from "./json-value.ts";

const readMetrics = createJsonReader(
  Type.Object({
    waiting_requests_num: Type.Number({ description: "a number" }),
    gpu_cache_usage_perc: Type.Number({ description: "a number" }),
  }),
);

/** Both fields are required. */
export function readLoadMetrics(bytes: Uint8Array): ReadValue<LoadReport> {
  const read = readMetrics(bytes);
  if (read.kind === "problem") return read;
  const { waiting_requests_num: waitingRequests, gpu_cache_usage_perc: cacheUsage } = read.value;
  return { kind: "value", value: { waitingRequests, cacheUsage } };
}
