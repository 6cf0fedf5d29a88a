/** From an instance's registration to its streams: the endpoints that it registered, or those that the rule of offsets gives. */

import { canonicalEndpoint, ENGINES, type Engine, type InstanceRegistration, knownEngine, type StreamDescription } from "#domain";
import type { Exclusion, SubscriptionRules } from "./rules.ts";

const PORT_MAX = 65_535;

/** An instance's streams, one a rank, and every endpoint in them in its canonical spelling. */
export interface DerivedStreams {
  streams: readonly StreamDescription[];
  endpoints: readonly string[];
}

/** Endpoints by rank as they are connected to, and in their canonical spelling; null for a rank without. */
interface Endpoints<Endpoint extends string | null> {
  given: readonly Endpoint[];
  canonical: readonly (string | null)[];
}

type EndpointKind = "event" | "replay";

/** Whoever registers may claim any number of ranks: those that could never all be subscribed to are not spelled out. */
export function deriveStreams(registration: InstanceRegistration, rules: SubscriptionRules): DerivedStreams | Exclusion {
  const { backend, dpSize } = registration;
  const engine = knownEngine(backend, ENGINES);
  if (engine === null) return { kind: "settled", reason: `the KV events of backend ${JSON.stringify(backend)} are not known` };
  if (!rules.isDiscoveryEnabled && registration.eventEndpoints === null) {
    return { kind: "settled", reason: "discovery is not enabled, and it registered no event endpoints of its own" };
  }
  if (dpSize > rules.maxStreams) {
    return { kind: "limit", reason: `${dpSize} streams needed, max_streams is ${rules.maxStreams}` };
  }
  const { eventEndpoints, replayEndpoints } = registration;
  const address = parseAddress(registration.address);
  const event =
    eventEndpoints === null
      ? offsetEndpoints("event", address, rules.eventPortOffset, dpSize)
      : registeredEndpoints("event", eventEndpoints, dpSize);
  if ("reason" in event) return event;
  const replay =
    replayEndpoints === null
      ? offsetEndpoints("replay", address, rules.replayPortOffset, dpSize)
      : registeredEndpoints("replay", replayEndpoints, dpSize);
  if ("reason" in replay) return replay;
  const silent = engine === "xllm" ? replay.given.indexOf(null) : -1;
  if (silent !== -1) return fault(`rank ${silent} has no replay endpoint, which an xllm engine needs`);
  return describe(registration, engine, rules, event, replay);
}

function describe(
  registration: InstanceRegistration,
  engine: Engine,
  rules: SubscriptionRules,
  event: Endpoints<string>,
  replay: Endpoints<string | null>,
): DerivedStreams | Exclusion {
  const endpoints = [...event.canonical, ...replay.canonical].filter((endpoint) => endpoint !== null);
  const twice = endpoints.find((endpoint, n) => endpoints.indexOf(endpoint) !== n);
  if (twice !== undefined) return fault(`endpoint ${JSON.stringify(twice)} is named twice`);
  const streams = event.given.map((endpoint, dpRank) => ({
    instanceName: registration.name,
    dpRank,
    engine,
    blockSize: registration.blockSize ?? rules.blockSize,
    hashSeed: registration.hashSeed,
    endpoint,
    replayEndpoint: replay.given[dpRank],
    topic: registration.topic ?? rules.topic,
    curveServerKey: registration.curveServerKey ?? rules.curveServerKey,
    incarnation: registration.incarnation,
  }));
  return { streams, endpoints };
}

function registeredEndpoints<Endpoint extends string | null>(
  kind: EndpointKind,
  own: readonly Endpoint[],
  dpSize: number,
): Endpoints<Endpoint> | Exclusion {
  if (own.length !== dpSize) return fault(`${own.length} ${kind} endpoints for ${dpSize} ranks, one for each is needed`);
  const canonical = own.map((endpoint) => (endpoint === null ? null : canonicalEndpoint(endpoint)));
  const wrong = canonical.findIndex((endpoint, rank) => endpoint === null && own[rank] !== null);
  if (wrong === -1) return { given: own, canonical };
  const found = JSON.stringify(own[wrong]);
  return fault(`${kind} endpoint ${found} of rank ${wrong} is not tcp://host:port of one machine`);
}

/** Of an instance's HTTP door. */
interface Address {
  host: string;
  /** In its canonical spelling, with the scheme: `tcp://[::1]`. */
  canonicalHost: string;
  port: number;
}

function parseAddress(address: string): Address | Exclusion {
  const canonical = canonicalEndpoint(`tcp://${address}`);
  if (canonical === null) {
    return fault(`address ${JSON.stringify(address)} is not host:port of one machine, with a port from 1 to ${PORT_MAX}`);
  }
  const [host, port] = splitPort(address);
  const [canonicalHost] = splitPort(canonical);
  return { host, canonicalHost, port };
}

function offsetEndpoints(
  kind: EndpointKind,
  address: Address | Exclusion,
  offset: number,
  dpSize: number,
): Endpoints<string> | Exclusion {
  if ("reason" in address) return address;
  const { host, canonicalHost, port } = address;
  const ports = Array.from({ length: dpSize }, (_, rank) => port + offset + rank);
  const beyond = ports.findIndex((candidate) => candidate > PORT_MAX);
  if (beyond !== -1) return fault(`${kind} port ${ports[beyond]} of rank ${beyond} is beyond ${PORT_MAX}`);
  return {
    given: ports.map((candidate) => `tcp://${host}:${candidate}`),
    canonical: ports.map((candidate) => `${canonicalHost}:${candidate}`),
  };
}

/** What stands before the last colon, and the number after it. */
function splitPort(text: string): [host: string, port: number] {
  const colon = text.lastIndexOf(":");
  return [text.slice(0, colon), Number(text.slice(colon + 1))];
}

function fault(reason: string): Exclusion {
  return { kind: "fault", reason };
}
