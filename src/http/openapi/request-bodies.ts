/** What may be sent to each route that reads a body: in which forms, and examples that work. */

interface RequestBodyExample {
  summary: string;
  value: Record<string, unknown>;
}

export interface RequestBodyForms {
  /** tokens: JSON, MessagePack, or the tokens alone as bytes with the other fields as query parameters. */
  forms: "json" | "tokens";
  /** At least one, by name; the first is a whole request of the simplest kind. */
  examples: Record<string, RequestBodyExample>;
}

const INSTANCE = "10.0.0.5:8000";

/** By method and path as the document has them. */
export const REQUEST_BODIES: Readonly<Record<string, RequestBodyForms>> = {
  "POST /v1/internal/kv-cache/query": {
    forms: "tokens",
    examples: {
      prompt: { summary: "A prompt", value: { token_ids: [9906, 1917, 11, 420, 374, 264, 10137] } },
      namespace: {
        summary: "With an adapter and a tenant's salt, of one instance",
        value: { token_ids: [9906, 1917], lora_name: "adapter-a", cache_salt: "tenant-a", instance_names: [INSTANCE] },
      },
      images: {
        summary: "With an image that begins in the first block and one that goes on from there",
        value: { token_ids: [9906, 1917], extra_keys: [["image-digest-a"], [["image-digest-b", -16]], null] },
      },
    },
  },
  "POST /v1/route": {
    forms: "tokens",
    examples: {
      prompt: {
        summary: "A prompt",
        value: { token_ids: [9906, 1917, 11, 420, 374, 264, 10137], request_id: "request-1", explain: true },
      },
      dryRun: {
        summary: "Where a prompt would go, with nothing remembered",
        value: { token_ids: [9906, 1917], dry_run: true },
      },
      batch: {
        summary: "Several prompts, decided one after another",
        value: { requests: [{ token_ids: [9906, 1917] }, { token_ids: [9906, 11], explain: false }] },
      },
    },
  },
  "POST /v1/route/{id}/finished": {
    forms: "json",
    examples: {
      prefill: { summary: "The first token is there", value: { phase: "prefill" } },
      generate: { summary: "Further tokens are", value: { phase: "generate", generated_tokens: 16 } },
    },
  },
  "POST /v1/instances": {
    forms: "json",
    examples: {
      vllm: {
        summary: "A vLLM engine, for as long as it registers again within 30 seconds",
        value: {
          name: INSTANCE,
          engine: "vllm",
          incarnation_id: "k3Jx",
          block_size: 16,
          topic: "kv",
          event_endpoints: ["tcp://10.0.0.5:5557"],
          replay_endpoints: ["tcp://10.0.0.5:5558"],
          lease_seconds: 30,
        },
      },
      prefill: {
        summary: "An xLLM engine that only prefills, its endpoints by offset from its port",
        value: { name: "10.0.0.6:8000", engine: "xllm", role: "PREFILL", ttft_profiling_data: [[1024, 80.5]] },
      },
    },
  },
  "POST /v1/internal/heartbeat": {
    forms: "json",
    examples: {
      load: {
        summary: "An instance lives, and how busy it is",
        value: {
          name: INSTANCE,
          incarnation_id: "k3Jx",
          load_metrics: { waiting_requests_num: "3", gpu_cache_usage_perc: 0.42 },
          latency_metrics: { recent_max_ttft: 120, recent_max_tbt: 25 },
        },
      },
    },
  },
};
