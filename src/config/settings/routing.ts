/** Settings of the choice of an instance. */

import { Type } from "@sinclair/typebox";
import { LOAD_BALANCE_POLICIES } from "#domain";

const share = (standard: number, description: string) => Type.Number({ default: standard, minimum: 0, maximum: 1, description });

/** An hour is no target any more: a larger number is a slip. */
const targetMs = (standard: number, description: string) =>
  Type.Integer({ default: standard, minimum: 1, maximum: 3_600_000, description });

export const RoutingSettings = Type.Object(
  {
    load_balance_policy: Type.Union(
      LOAD_BALANCE_POLICIES.map((policy) => Type.Literal(policy)),
      { default: "CAR", description: "How an instance is chosen: by cache and load, in turn, or by latency targets" },
    ),
    car_prefill_lambda: share(0.5, "CAR: weight of a cache miss against the queue; 0 looks only at queues, 1 only at the cache"),
    car_host_hit_weight: share(0.5, "CAR: what a token that only host memory holds is worth, beside one on the device"),
    car_disk_hit_weight: share(0.25, "CAR: the same for a token that only disk holds; not above car_host_hit_weight"),
    target_ttft: targetMs(1000, "SLO_AWARE: time to the first token that is aimed at, in ms"),
    target_tpot: targetMs(50, "SLO_AWARE: time per output token that is aimed at, in ms"),
    track_inflight: Type.Boolean({
      default: false,
      description: "Count decisions not yet seen in a load report as waiting on the chosen instance",
    }),
    // A prompt that no event announced within a minute is not there.
    predict_residency_ms: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 60_000,
      description: "Time for which the chosen instance is credited with the prompt before its events arrive",
    }),
  },
  { title: "Routing" },
);
