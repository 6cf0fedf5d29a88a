import { describe, expect, test } from "bun:test";
import { engineLoad, loadFamilies, type ScrapedEngine } from "../../../src/fleet/scrape/engine-load.ts";
import { readExposition } from "../../../src/fleet/scrape/exposition.ts";
import { enginePage } from "./engine-page.ts";

function loadOf(engine: ScrapedEngine, page: string) {
  const exposition = readExposition(page, loadFamilies(engine));
  if (exposition.kind === "unusable") throw new Error(exposition.problem);
  return engineLoad(engine, exposition.samples);
}

function known(waitingRequests: number, cacheUsage: number) {
  return { kind: "known", report: { waitingRequests, cacheUsage } } as const;
}

describe("engineLoad", () => {
  test("reads a vLLM 0.8 page of one engine", async () => {
    expect(loadOf("vllm", await enginePage("vllm-0.8-one-engine"))).toEqual(known(3, 0.4375));
  });

  test("adds up the queues of a vLLM 0.10 page's two engines, and means their usage, counted under one name only", async () => {
    expect(loadOf("vllm", await enginePage("vllm-0.10-dp2"))).toEqual(known(7 + 2, (0.875 + 0.625) / 2));
  });

  test("counts the tensor ranks of an SGLang rank once, the largest of them", async () => {
    expect(loadOf("sglang", await enginePage("sglang-dp2-tp2"))).toEqual(known(11 + 4, (0.75 + 0.25) / 2));
  });

  test("prefers the present name of vLLM's usage, whatever the order of the page", () => {
    const page = "vllm:num_requests_waiting 1\nvllm:gpu_cache_usage_perc 0.1\nvllm:kv_cache_usage_perc 0.2\n";
    expect(loadOf("vllm", page)).toEqual(known(1, 0.2));
  });

  test("falls back to the older name when the present one has no number", () => {
    const page = "vllm:num_requests_waiting 1\nvllm:kv_cache_usage_perc NaN\nvllm:gpu_cache_usage_perc 0.1\n";
    expect(loadOf("vllm", page)).toEqual(known(1, 0.1));
  });

  test("does not add vLLM's waiting requests by reason to their total", () => {
    const page = [
      'vllm:num_requests_waiting{engine="0"} 19',
      'vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 19',
      'vllm:num_requests_waiting_by_reason{engine="0",reason="deferred"} 0',
      'vllm:kv_cache_usage_perc{engine="0"} 0.5',
    ].join("\n");
    expect(loadOf("vllm", page)).toEqual(known(19, 0.5));
  });

  test("counts one vLLM engine under several model names or API server processes once, the largest", () => {
    const page = [
      'vllm:num_requests_waiting{engine="0",model_name="base"} 2',
      'vllm:num_requests_waiting{engine="0",model_name="adapter"} 5',
      'vllm:num_requests_waiting{engine="0",model_name="base",pid="71"} 4',
      'vllm:kv_cache_usage_perc{engine="0",model_name="base"} 0.5',
      'vllm:kv_cache_usage_perc{engine="0",model_name="adapter"} 1',
    ].join("\n");
    expect(loadOf("vllm", page)).toEqual(known(5, 1));
  });

  test("keeps the usage of many full ranks at 1", () => {
    const ranks = Array.from({ length: 128 }, (_, rank) => rank);
    const page = ranks.map(
      (rank) => `vllm:num_requests_waiting{engine="${rank}"} 1\nvllm:kv_cache_usage_perc{engine="${rank}"} 1\n`,
    );
    expect(loadOf("vllm", page.join(""))).toEqual(known(128, 1));
  });

  test("takes no count of samples that are no finite numbers", () => {
    const page = [
      'vllm:num_requests_waiting{engine="0"} NaN',
      'vllm:num_requests_waiting{engine="1"} 2',
      'vllm:num_requests_waiting{engine="2"} +Inf',
      'vllm:kv_cache_usage_perc{engine="0"} -Inf',
      'vllm:kv_cache_usage_perc{engine="1"} 0.5',
    ].join("\n");
    expect(loadOf("vllm", page)).toEqual(known(2, 0.5));
  });

  test("takes a vLLM page without usage for an empty cache, an SGLang page without it for an unknown load", () => {
    expect(loadOf("vllm", "vllm:num_requests_waiting 2\n")).toEqual(known(2, 0));
    expect(loadOf("sglang", "sglang:num_queue_reqs 2\n")).toEqual({
      kind: "unknown",
      reason: "no sglang:token_usage in /metrics",
    });
  });

  test.each([
    ["vllm", "vllm:kv_cache_usage_perc 0.5\n", "no vllm:num_requests_waiting in /metrics"],
    ["vllm", "vllm:kv_cache_usage_perc 0.5\nvllm:num_requests_waiting NaN\n", "no vllm:num_requests_waiting in /metrics"],
    ["vllm", "", "no vllm:num_requests_waiting in /metrics"],
    ["sglang", "sglang:token_usage 0.5\nvllm:num_requests_waiting 1\n", "no sglang:num_queue_reqs in /metrics"],
  ] as const)("does not know the load of a %s page without a queue: %j", (engine, page, reason) => {
    expect(loadOf(engine, page)).toEqual({ kind: "unknown", reason });
  });

  test("counts SGLang's total and not its priorities", () => {
    const page = [
      'sglang:num_queue_reqs{dp_rank="0",priority=""} 3',
      'sglang:num_queue_reqs{dp_rank="0",priority="1"} 9',
      'sglang:num_queue_reqs{dp_rank="0",priority="None"} 9',
      'sglang:token_usage{dp_rank="0",priority=""} 0.5',
    ].join("\n");
    expect(loadOf("sglang", page)).toEqual(known(3, 0.5));
  });

  test("reads SGLang's names with underscores, and its older pages without ranks", () => {
    expect(loadOf("sglang", 'sglang_num_queue_reqs{worker="a"} 4\nsglang_token_usage{worker="a"} 0.28\n')).toEqual(
      known(4, 0.28),
    );
    expect(loadOf("sglang", 'sglang:num_queue_reqs{model_name="m"} 2826.0\nsglang:token_usage{model_name="m"} 0.28\n')).toEqual(
      known(2826, 0.28),
    );
  });

  test("leaves numbers out of range to whoever keeps the report", () => {
    expect(loadOf("vllm", "vllm:num_requests_waiting -1\nvllm:kv_cache_usage_perc 1.5\n")).toEqual(known(-1, 1.5));
  });
});
