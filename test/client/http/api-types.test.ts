/**
 * What the compiler knows of the routes: a route that changes, or loses its types, breaks `tsc` here. The package's own test compiles
 * this file in a project that depends on the package.
 */

import { expectTypeOf, test } from "bun:test";
import type { Api, Client } from "warmpath/client";

type Instance = ReturnType<Api["v1"]["instances"]>;
type Routed = ReturnType<Api["v1"]["route"]>;
type Body<Route extends (body: never) => unknown> = Parameters<Route>[0];
type Statuses<Route extends (...values: never[]) => Promise<{ error: unknown }>> = Awaited<
  ReturnType<Route>
>["error"] extends infer Error
  ? Error extends { status: infer Status }
    ? Status
    : never
  : never;
type DataOf<Route extends (...values: never[]) => Promise<unknown>> = Extract<
  Awaited<ReturnType<Route>>,
  { error: null; data: unknown }
>["data"];

test("The client knows what a query takes and gives", () => {
  type Query = Api["v1"]["internal"]["kv-cache"]["query"]["post"];
  expectTypeOf<Body<Query>["token_ids"]>().toEqualTypeOf<number[]>();
  expectTypeOf<Body<Query>["instance_names"]>().toEqualTypeOf<string[] | undefined>();
  expectTypeOf<Body<Query>["extra_keys"]>().toEqualTypeOf<((string | [string, number])[] | null)[] | undefined>();
  expectTypeOf<DataOf<Query>["matches"][number]>().toEqualTypeOf<{
    instance_name: string;
    dp_rank: number;
    synchronized: boolean;
    coverage: "full" | "partial";
    sequence: number;
    device_hit_tokens: number;
    host_only_hit_tokens: number;
    disk_only_hit_tokens: number;
    reusable_prefix_tokens: number;
    device_blocks: number;
    host_blocks: number;
    disk_blocks: number;
    error: string | null;
  }>();
  expectTypeOf<Statuses<Query>>().toEqualTypeOf<400 | 401 | 413 | 415 | 422 | 500 | 503>();
  expectTypeOf<DataOf<Client["query"]>>().toEqualTypeOf<DataOf<Query>>();
});

test("The client knows one decision from several, and that bytes bring one", () => {
  type Route = Api["v1"]["route"]["post"];
  type Decision = DataOf<Client["route"]>;
  expectTypeOf<Decision["policy"]>().toEqualTypeOf<"RR" | "CAR" | "SLO_AWARE">();
  expectTypeOf<Decision["prefill"]>().toEqualTypeOf<{
    instance_name: string;
    address: string;
    kv_hit_ratio: number;
    queue_cost: number;
    score: number | null;
  }>();
  expectTypeOf<Decision["decode"]>().toEqualTypeOf<Decision["prefill"] | null>();
  type Batch = Exclude<DataOf<Route>, Decision>;
  type Failed = Exclude<Batch["decisions"][number], Decision>;
  expectTypeOf<Failed["error"]["detail"]>().toEqualTypeOf<string>();
  expectTypeOf<Statuses<Route>>().toEqualTypeOf<400 | 401 | 413 | 415 | 422 | 500 | 503>();
  expectTypeOf<Parameters<Client["route"]>[1]>().toExtend<{ request_id?: string; lora_name?: string } | undefined>();
  expectTypeOf<NonNullable<Parameters<Client["route"]>[1]>>().not.toHaveProperty("token_ids");
});

test("The client knows how a request may fare", () => {
  type Step = Routed["finished"]["post"];
  expectTypeOf<Body<Step>["phase"]>().toEqualTypeOf<"prefill" | "generate" | "decode" | "cancel">();
  expectTypeOf<Body<Step>["generated_tokens"]>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Statuses<Step>>().toEqualTypeOf<400 | 401 | 404 | 413 | 415 | 422 | 500 | 503>();
});

test("The client knows how instances register, live, are looked at and leave", () => {
  type Register = Api["v1"]["instances"]["post"];
  expectTypeOf<Body<Register>["engine"]>().toEqualTypeOf<"xllm" | "vllm" | "sglang">();
  expectTypeOf<DataOf<Register>>().toEqualTypeOf<{ name: string; outcome: "registered" | "refreshed" }>();
  expectTypeOf<Statuses<Register>>().toEqualTypeOf<400 | 401 | 409 | 413 | 415 | 422 | 500 | 503>();
  type Listed = DataOf<Api["v1"]["instances"]["get"]>["instances"][number];
  expectTypeOf<Listed>().toEqualTypeOf<DataOf<Instance["get"]>>();
  expectTypeOf<Listed["load"]>().toExtend<{ waiting_requests_num: number; age_ms: number } | null>();
  expectTypeOf<Listed["streams"][number]["error"]>().toEqualTypeOf<string | null>();
  type DeleteOptions = NonNullable<Parameters<Instance["delete"]>[1]>;
  expectTypeOf<NonNullable<DeleteOptions["query"]>>().toEqualTypeOf<{ incarnation_id?: string }>();
  expectTypeOf<Statuses<Instance["delete"]>>().toEqualTypeOf<401 | 404 | 409 | 422 | 500>();
  type Heartbeat = Api["v1"]["internal"]["heartbeat"]["post"];
  expectTypeOf<Body<Heartbeat>["name"]>().toEqualTypeOf<string>();
  expectTypeOf<DataOf<Heartbeat>>().toEqualTypeOf<{ ok: true }>();
});

test("The client knows the probes and the metrics", () => {
  expectTypeOf<DataOf<Api["healthz"]["get"]>>().toEqualTypeOf<{ ok: true }>();
  expectTypeOf<DataOf<Api["readyz"]["get"]>>().toEqualTypeOf<{ ready: true }>();
  expectTypeOf<DataOf<Api["metrics"]["get"]>>().toEqualTypeOf<string>();
});
