/** From what the fleet, the subscriptions and the directory know of instances to what an operator reads. */

import { describeUnsynchronized, type StreamMatch } from "#domain";
import type { Instance } from "#fleet";
import { describeExclusion, type Exclusion } from "#routing";
import type { AppDependencies } from "../dependencies.ts";
import { indexBusy, Problem } from "../problem.ts";
import type { InstanceAnswer, InstancesAnswer, StreamAnswer } from "./schema.ts";

export type InstanceSources = Pick<AppDependencies, "fleet" | "subscriptions" | "scrapes" | "directory" | "router" | "clock">;

/** Every instance by name, the streams that belong to none, and what was refused. Throws a 503 problem while the index is busy. */
export function describeInstances(sources: InstanceSources): InstancesAnswer {
  const { fleet, router } = sources;
  const exclusions = router.exclusions();
  const matches = Map.groupBy(streamMatches(sources, null), ({ stream }) => stream.instanceName);
  const instances = fleet.instances().map((instance) => {
    const { name } = instance.registration;
    const own = matches.get(name) ?? [];
    matches.delete(name);
    return describeInstance(instance, own, exclusions, sources);
  });
  return { instances, static_streams: describeStaticStreams(matches), refused: [...fleet.refusals()] };
}

/** Throws a problem: 404 when there is no such instance, 503 while the index is busy. */
export function describeNamed(name: string, sources: InstanceSources): InstanceAnswer {
  const instance = sources.fleet.instance(name);
  if (instance === null) throw unknownInstance(name, sources);
  return describeInstance(instance, streamMatches(sources, new Set([name])), sources.router.exclusions(), sources);
}

function unknownInstance(name: string, { fleet }: InstanceSources): Problem {
  const refusals = fleet.refusals().filter((refusal) => refusal.name === name);
  const reasons = refusals.map(({ registry, reason }) => `its registration through ${registry} was refused: ${reason}`);
  const what = reasons.length > 0 ? reasons.join("; ") : "it is not registered";
  return new Problem("not-found", { detail: `Cannot find instance ${JSON.stringify(name)}: ${what}` });
}

function streamMatches({ directory }: InstanceSources, names: ReadonlySet<string> | null): StreamMatch[] {
  const matches = directory.match(0, names, null);
  if (matches === "busy") throw indexBusy("describe the streams");
  return matches;
}

function describeInstance(
  instance: Instance,
  matches: StreamMatch[],
  exclusions: ReadonlyMap<string, Exclusion>,
  { fleet, subscriptions, scrapes, clock }: InstanceSources,
): InstanceAnswer {
  const { registration, latency } = instance;
  const current = fleet.loadOf(instance);
  const exclusion = exclusions.get(registration.name);
  return {
    name: registration.name,
    address: registration.address,
    role: registration.role,
    current_role: instance.currentRole,
    engine: registration.backend,
    state: instance.state,
    state_seconds: Math.round(clock.nowMs() - instance.stateSinceMs) / 1000,
    registry: instance.registry,
    incarnation_id: registration.incarnation,
    excluded: exclusion === undefined ? null : describeExclusion(exclusion),
    dp_size: registration.dpSize,
    block_size: registration.blockSize ?? matches[0]?.stream.blockSize ?? null,
    load:
      current.kind === "unknown"
        ? null
        : {
            waiting_requests_num: current.report.waitingRequests,
            gpu_cache_usage_perc: current.report.cacheUsage,
            origin: current.origin,
            age_ms: Math.round(current.ageMs),
          },
    load_error: current.kind === "unknown" ? sentence(current.reason, scrapes.problemOf(registration.name)) : null,
    latency: latency && { recent_max_ttft: latency.ttftMs, recent_max_tbt: latency.tbtMs },
    // Streams that the KV events file lists under its name are listened to in place of its own.
    subscription_error: matches.length > 0 ? null : subscriptions.statusOf(registration.name).excluded,
    streams: describeStreams(matches),
  };
}

function sentence(...parts: (string | null)[]): string {
  return parts.filter((part) => part !== null).join("; ");
}

function describeStaticStreams(matches: ReadonlyMap<string, StreamMatch[]>): InstancesAnswer["static_streams"] {
  const names = [...matches.keys()].sort();
  return names.flatMap((name) => describeStreams(matches.get(name) ?? []).map((stream) => ({ instance_name: name, ...stream })));
}

/** By rank. */
function describeStreams(matches: StreamMatch[]): StreamAnswer[] {
  return matches.toSorted(({ stream: left }, { stream: right }) => left.dpRank - right.dpRank).map(describeStream);
}

function describeStream(match: StreamMatch): StreamAnswer {
  return {
    dp_rank: match.stream.dpRank,
    endpoint: match.stream.endpoint,
    replay_endpoint: match.stream.replayEndpoint,
    synchronized: match.unsynchronized === null,
    coverage: match.coverage,
    sequence: match.batchSeq,
    device_blocks: match.deviceBlocks,
    host_blocks: match.hostBlocks,
    disk_blocks: match.diskBlocks,
    error: match.unsynchronized === null ? null : describeUnsynchronized(match.unsynchronized),
  };
}
