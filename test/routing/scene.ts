/** Instances, streams and requests for tests of policies: everything has a plain default, each test states what it is about. */

import type { CurrentRole, InstanceRegistration, Role, StreamMatch } from "#domain";
import type { Instance } from "#fleet";
import type { CurrentLoad, Decision, Placement, RouteRequest } from "#routing";
import { instanceOf, registrationOf } from "../support/instances.ts";

interface InstanceOptions extends Partial<InstanceRegistration> {
  state?: Instance["state"];
  currentRole?: CurrentRole;
}

/** `instance("a", "MIX", { currentRole: "DECODE" })`; a MIX instance works as PREFILL unless it is said otherwise. */
export function instance(name: string, role: Role = "DEFAULT", options: InstanceOptions = {}): Instance {
  const { state = "ACTIVE", currentRole = role === "MIX" ? "PREFILL" : role, ...registration } = options;
  const fields = { role, incarnation: `${name}-1`, blockSize: 128, topic: "", ...registration };
  return instanceOf(registrationOf(name, fields), { state, currentRole });
}

export function load(waitingRequests: number, cacheUsage = 0, ageMs = 0): CurrentLoad {
  return { kind: "known", report: { waitingRequests, cacheUsage }, ageMs };
}

export const NO_REPORT: CurrentLoad = { kind: "unknown", reason: "no report yet" };

interface MatchOptions extends Partial<Omit<StreamMatch, "stream">> {
  dpRank?: number;
  blockSize?: number;
  incarnation?: string;
}

/** What a stream of the instance holds, in blocks: `match("a", [3, 1, 0])` is three on the device and one on the host only. */
export function match(
  instanceName: string,
  [device, hostOnly, diskOnly]: readonly [number, number, number],
  { dpRank = 0, blockSize = 128, incarnation = `${instanceName}-1`, ...rest }: MatchOptions = {},
): StreamMatch {
  return {
    stream: {
      instanceName,
      dpRank,
      engine: "xllm",
      blockSize,
      hashSeed: 1024,
      endpoint: `tcp://${instanceName}:${18000 + dpRank}`,
      replayEndpoint: null,
      topic: "",
      curveServerKey: null,
      incarnation,
    },
    unsynchronized: null,
    coverage: "full",
    batchSeq: 1,
    deviceHitBlocks: device,
    hostOnlyHitBlocks: hostOnly,
    diskOnlyHitBlocks: diskOnly,
    deviceBlocks: device,
    hostBlocks: hostOnly,
    diskBlocks: diskOnly,
    ...rest,
  };
}

/** A prompt whose tokens are its numbers from `first` on. */
export function prompt(tokenCount: number, first = 0): Uint32Array {
  return Uint32Array.from({ length: tokenCount }, (_, token) => first + token);
}

let requestCount = 0;

/** A request of 1,024 tokens to the instances; loads are by name, those not named are idle. */
export function request(
  instances: readonly Instance[],
  { loads = {}, ...rest }: Partial<RouteRequest> & { loads?: Record<string, CurrentLoad> } = {},
): RouteRequest {
  return {
    requestId: `request-${requestCount++}`,
    tokens: prompt(1024),
    namespace: null,
    matches: [],
    instances,
    loadOf: ({ registration }) => loads[registration.name] ?? load(0),
    nowMs: 0,
    ...rest,
  };
}

export function placed(decision: Decision): Placement {
  if (decision.kind === "refused") throw new Error(`Cannot place the request: ${decision.reason}`);
  return decision;
}

/** `["a", "d"]`: where it prefills and where it decodes; the reason when it is refused. */
export function route(decision: Decision): [string, string | null] | string {
  if (decision.kind === "refused") return decision.reason;
  return [decision.prefill.instance.registration.name, decision.decode?.instance.registration.name ?? null];
}
