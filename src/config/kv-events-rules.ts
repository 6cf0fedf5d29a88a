/**
 * What must hold between the fields of a KV events file. Rules look at the fields that are right by themselves and skip the
 * others, so that one start reports both kinds of problem.
 */

import { Value } from "@sinclair/typebox/value";
import { canonicalEndpoint, streamName } from "#domain";
import type { Problem } from "./errors.ts";
import { Discovery, KvEventsFile, StreamFields } from "./kv-events-file.ts";

/** Problems between the fields of a parsed file of any shape; `setting` is a path such as `streams[1].endpoint`. */
export function ruleProblems(file: unknown): Problem[] {
  if (!isRecord(file)) return [];
  const { discovery, max_streams, streams } = file;
  const entries = Array.isArray(streams) ? streams.map(validFields) : [];
  return [
    ...(discovery === undefined ? [] : besideDiscovery(entries.length)),
    ...(Value.Check(Discovery, discovery) ? equalOffsets(discovery) : []),
    ...(Value.Check(KvEventsFile.properties.max_streams, max_streams) ? tooMany(entries.length, max_streams) : []),
    ...missingReplay(entries),
    ...repeatedRanks(entries),
    ...sharedEndpoints(entries),
  ];
}

function besideDiscovery(streamCount: number): Problem[] {
  if (streamCount === 0) return [];
  return [{ setting: "streams", found: `${streamCount} beside discovery`, needed: "either discovery or streams" }];
}

/** Equal offsets put events and replay of every instance on one port. */
function equalOffsets({ event_port_offset, replay_port_offset }: Discovery): Problem[] {
  if (event_port_offset !== replay_port_offset) return [];
  const found = `${replay_port_offset} as in discovery.event_port_offset`;
  return [{ setting: "discovery.replay_port_offset", found, needed: "another offset" }];
}

function tooMany(streamCount: number, maxStreams: number): Problem[] {
  if (streamCount <= maxStreams) return [];
  return [{ setting: "streams", found: String(streamCount), needed: `at most max_streams ${maxStreams}` }];
}

/** The snapshot is the one way into an xLLM stream. */
function missingReplay(streams: readonly Partial<StreamFields>[]): Problem[] {
  return streams.flatMap(({ engine, replay_endpoint }, position) => {
    if (engine !== "xllm" || replay_endpoint !== null) return [];
    const needed = 'tcp://host:port, where engine "xllm" answers with its snapshot';
    return { setting: `streams[${position}].replay_endpoint`, found: "nothing", needed };
  });
}

function repeatedRanks(streams: readonly Partial<StreamFields>[]): Problem[] {
  const claims = streams.flatMap(({ instance_name, dp_rank }, position) => {
    if (instance_name === undefined || dp_rank === undefined) return [];
    const name = streamName({ instanceName: instance_name, dpRank: dp_rank });
    return { setting: `streams[${position}]`, key: name, found: name };
  });
  return repeatedClaims(claims, "one stream per instance and rank");
}

/** An endpoint serves one stream in one role: neither two streams nor events and replay can share a port. */
function sharedEndpoints(streams: readonly Partial<StreamFields>[]): Problem[] {
  const claims = streams.flatMap((stream, position) =>
    (["endpoint", "replay_endpoint"] as const).flatMap((role) => {
      const endpoint = stream[role];
      const key = typeof endpoint === "string" ? canonicalEndpoint(endpoint) : null;
      return key === null ? [] : { setting: `streams[${position}].${role}`, key, found: JSON.stringify(endpoint) };
    }),
  );
  return repeatedClaims(claims, "an endpoint of its own");
}

/** One problem for every claim whose key an earlier claim has. */
function repeatedClaims(claims: readonly { setting: string; key: string; found: string }[], needed: string): Problem[] {
  const firstByKey = new Map<string, string>();
  return claims.flatMap(({ setting, key, found }) => {
    const first = firstByKey.get(key);
    if (first !== undefined) return { setting, found: `${found} as in ${first}`, needed };
    firstByKey.set(key, setting);
    return [];
  });
}

function validFields(stream: unknown): Partial<StreamFields> {
  if (!isRecord(stream)) return {};
  const valid = Object.entries(StreamFields.properties).filter(([name, schema]) => Value.Check(schema, stream[name]));
  return Object.fromEntries(valid.map(([name]) => [name, stream[name]]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
