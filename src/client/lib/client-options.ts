/** What a program tells a KvEventClient, checked once: endpoints, timing, where the defaults are AIBrix's. */

import { ENGINES, type Engine } from "#domain";
import { parseGoDuration } from "./go-duration.ts";

const PUB_PORT = 5557;
const ROUTER_PORT = 5558;

/** As Warmpath's max_message_bytes: some times the largest batch that an engine sends. */
const MESSAGE_BYTES_MAX = 8_388_608;

const DEFAULT_TIMING: ClientTiming = { pollTimeoutMs: 100, replayTimeoutMs: 5000, reconnectIntervalMs: 1000 };

/** Longer waits than an hour are typing errors, and timers end at 2^31 ms. */
const DURATION_MAX_MS = 3_600_000;

/** Where one rank publishes: by endpoint, or by host and the ports of rank 0. */
export type ClientAddress =
  | {
      /** `tcp://host:port` of the rank's publisher. */
      endpoint: string;
      /** `tcp://host:port` of its replay endpoint; without one what is missing stays missing. */
      replayEndpoint?: string | null;
    }
  | {
      host: string;
      /** Port of rank 0's publisher, 5557 by default; rank n is n above. */
      pubPort?: number;
      /** Port of rank 0's replay endpoint, 5558 by default, rank n is n above; null where the engine has none. */
      routerPort?: number | null;
    };

export type ClientConnection = ClientAddress & {
  /** Exact topic, "" by default. */
  topic?: string;
  engine: Engine;
  /** Data-parallel rank, 0 by default: each rank publishes its own events and needs a client of its own. */
  rank?: number;
  /** Label of the metrics; the publisher's `host:port` by default. */
  podKey?: string;
  /** Largest message that is accepted, 8 MiB by default. */
  maxMessageBytes?: number;
};

interface ClientTiming {
  /** The longest wait of the client's thread for its sockets. AIBRIX_ZMQ_POLL_TIMEOUT, 100 ms. */
  pollTimeoutMs: number;
  /** A replay that brings nothing for this long has failed. AIBRIX_ZMQ_REPLAY_TIMEOUT, 5 s. */
  replayTimeoutMs: number;
  /** Before a failed replay or a dead socket is tried again; doubles up to 30 s. AIBRIX_ZMQ_RECONNECT_INTERVAL, 1 s. */
  reconnectIntervalMs: number;
}

/** Checked and complete. */
export interface ClientSettings extends ClientTiming {
  endpoint: string;
  replayEndpoint: string | null;
  topic: string;
  engine: Engine;
  rank: number;
  podKey: string;
  maxMessageBytes: number;
}

/** Throws RangeError for what is out of range in `connection` or in the environment's durations. */
export function resolveClientOptions(connection: ClientConnection, environment: NodeJS.ProcessEnv): ClientSettings {
  const { engine, topic = "", rank = 0, maxMessageBytes = MESSAGE_BYTES_MAX } = connection;
  if (!ENGINES.includes(engine)) throw refusal(`engine ${JSON.stringify(engine)}`, `one of ${ENGINES.join(", ")}`);
  if (!Number.isInteger(rank) || rank < 0) throw refusal(`rank ${rank}`, "an integer from 0");
  if (!Number.isInteger(maxMessageBytes) || maxMessageBytes < 1) {
    throw refusal(`maxMessageBytes ${maxMessageBytes}`, "a positive integer");
  }
  const { endpoint, replayEndpoint } = endpointsOf(connection, rank);
  const podKey = connection.podKey ?? endpoint.replace(/^tcp:\/\//, "");
  return { endpoint, replayEndpoint, topic, engine, rank, podKey, maxMessageBytes, ...timingOf(environment) };
}

function endpointsOf(address: ClientAddress, rank: number): { endpoint: string; replayEndpoint: string | null } {
  if ("endpoint" in address) {
    const { endpoint, replayEndpoint = null } = address;
    for (const given of [endpoint, replayEndpoint]) {
      if (given !== null && !/^tcp:\/\/.+:\d+$/.test(given))
        throw refusal(`endpoint ${JSON.stringify(given)}`, "tcp://host:port");
    }
    return { endpoint, replayEndpoint };
  }
  const { host, pubPort = PUB_PORT, routerPort = ROUTER_PORT } = address;
  const at = (port: number) => {
    const rankPort = port + rank;
    if (!Number.isInteger(rankPort) || rankPort < 1 || rankPort > 65_535) throw refusal(`port ${rankPort}`, "1 to 65535");
    return `tcp://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${rankPort}`;
  };
  return { endpoint: at(pubPort), replayEndpoint: routerPort === null ? null : at(routerPort) };
}

function timingOf(environment: NodeJS.ProcessEnv): ClientTiming {
  const duration = (name: string, otherwiseMs: number) => {
    const text = environment[name];
    if (text === undefined || text === "") return otherwiseMs;
    const durationMs = parseGoDuration(text);
    if (durationMs !== null && durationMs >= 1 && durationMs <= DURATION_MAX_MS) return durationMs;
    throw refusal(`${name} ${JSON.stringify(text)}`, 'a Go duration from 1ms to 1h, for instance "100ms" or "1m30s"');
  };
  return {
    pollTimeoutMs: duration("AIBRIX_ZMQ_POLL_TIMEOUT", DEFAULT_TIMING.pollTimeoutMs),
    replayTimeoutMs: duration("AIBRIX_ZMQ_REPLAY_TIMEOUT", DEFAULT_TIMING.replayTimeoutMs),
    reconnectIntervalMs: duration("AIBRIX_ZMQ_RECONNECT_INTERVAL", DEFAULT_TIMING.reconnectIntervalMs),
  };
}

function refusal(found: string, needed: string): RangeError {
  return new RangeError(`Cannot set up a KV event client: ${found}, ${needed} is needed`);
}
