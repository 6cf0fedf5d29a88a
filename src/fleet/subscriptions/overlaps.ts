/** Endpoints that are claimed twice. A stream from such an endpoint might be of either claimant's engine, so no instance keeps one. */

import { type StreamDescription, streamName } from "#domain";
import type { DerivedStreams } from "./endpoints.ts";
import type { Exclusion } from "./rules.ts";

/** An instance that would be subscribed to, were it for its endpoints. */
export interface Candidate {
  name: string;
  derived: DerivedStreams;
}

/** Two claims of one endpoint, each as messages name it. */
export interface Overlap {
  endpoint: string;
  first: string;
  second: string;
}

/** By canonical endpoint. */
export type StaticEndpoints = ReadonlyMap<string, StreamDescription>;

type Claimant = { kind: "static"; stream: StreamDescription } | { kind: "instance"; name: string };

/** Every overlap, and the exclusion of every candidate in one, by name; of several overlaps the first one found is its reason. */
export function findOverlaps(candidates: readonly Candidate[], staticEndpoints: StaticEndpoints) {
  const overlaps: Overlap[] = [];
  const excluded = new Map<string, Exclusion>();
  const claims = new Map<string, Claimant>();
  for (const [endpoint, stream] of staticEndpoints) claims.set(endpoint, { kind: "static", stream });

  const exclude = (claimant: Claimant, endpoint: string, other: Claimant) => {
    if (claimant.kind === "static" || excluded.has(claimant.name)) return;
    const reason = `endpoint ${JSON.stringify(endpoint)} is also that of ${describe(other)}`;
    excluded.set(claimant.name, { kind: "overlap", reason });
  };
  for (const { name, derived } of candidates) {
    const second: Claimant = { kind: "instance", name };
    for (const endpoint of derived.endpoints) {
      const first = claims.get(endpoint);
      if (first === undefined) {
        claims.set(endpoint, second);
        continue;
      }
      exclude(first, endpoint, second);
      exclude(second, endpoint, first);
      overlaps.push({ endpoint, first: describe(first), second: describe(second) });
    }
  }
  return { overlaps, excluded };
}

function describe(claimant: Claimant): string {
  switch (claimant.kind) {
    case "static":
      return `static stream ${streamName(claimant.stream)}`;
    case "instance":
      return `instance ${JSON.stringify(claimant.name)}`;
  }
}
