import { describe, expect, test } from "bun:test";
import { readLoadMetrics } from "../../../src/fleet/etcd/load-metrics.ts";

function read(value: object) {
  return readLoadMetrics(new TextEncoder().encode(JSON.stringify(value)));
}

describe("readLoadMetrics", () => {
  test("readLoadMetrics reads what xLLM's master writes", () => {
    const value = { waitingRequests: 3, cacheUsage: 0.42 };
    expect(read({ gpu_cache_usage_perc: 0.42, waiting_requests_num: 3, more: [] })).toEqual({ kind: "value", value });
  });

  test.each([
    [{ gpu_cache_usage_perc: 0.42 }, "waiting_requests_num is missing, a number is needed"],
    [{ waiting_requests_num: 3 }, "gpu_cache_usage_perc is missing, a number is needed"],
    [{ waiting_requests_num: "3", gpu_cache_usage_perc: 0 }, 'waiting_requests_num is "3", a number is needed'],
    [{ waiting_requests_num: 3, gpu_cache_usage_perc: null }, "gpu_cache_usage_perc is null, a number is needed"],
  ])("readLoadMetrics refuses %j and says why", (value, reason) => {
    expect(read(value)).toEqual({ kind: "problem", reason });
  });
});
