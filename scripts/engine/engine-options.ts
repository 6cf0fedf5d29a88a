/** The flags of `bun run engine`: what one simulated engine is, where it is reached, and who is told of it. */

import { parseArgs } from "node:util";
import { canonicalEndpoint } from "#domain";

export const ENGINE_USAGE =
  "bun run engine -- --name host:port [--bind ADDRESS] [--event-port N] [--replay-port N] [--block-size N] [--device-blocks N] " +
  "[--host-blocks N] [--topic TEXT] [--warmpath URL] [--etcd-addr host:port | --demo]";

export interface EngineOptions {
  /** Name of the instance, `host:port` of its HTTP door as Warmpath reaches it. */
  name: string;
  /** Where Warmpath reaches the engine: the host of the name, an IPv6 address in brackets; the loopback address in the demo. */
  host: string;
  /** This port and the next two are 0 in the demo: any that is free. */
  httpPort: number;
  /** As xLLM's engines have it unless it is said: the HTTP port + 10000, and + 30000. */
  eventPort: number;
  replayPort: number;
  /** Address that door and sockets listen on. */
  bind: string;
  blockSize: number;
  deviceBlocks: number;
  hostBlocks: number;
  topic: string;
  /** Base URL of the Warmpath that is sent heartbeats, and where the engine registers unless it does in etcd. */
  warmpathUrl: string;
  /** Null: the engine registers over HTTP. */
  etcdAddress: string | null;
  /** The name is a name alone, the incarnation tells which process to kill, and the engine ends with the one that started it. */
  isInDemo: boolean;
}

const LOOPBACK = "127.0.0.1";
const EVENT_PORT_OFFSET = 10_000;
const REPLAY_PORT_OFFSET = 30_000;
const PORT_MAX = 65_535;
const COUNT_MAX = 1_000_000;

/** Throws an Error that names the flag, what it is and what is needed. */
export function parseEngineOptions(args: string[]): EngineOptions {
  const { values } = parseArgs({
    args,
    options: {
      name: { type: "string", default: "127.0.0.1:8000" },
      bind: { type: "string" },
      "event-port": { type: "string" },
      "replay-port": { type: "string" },
      "block-size": { type: "string", default: "128" },
      "device-blocks": { type: "string", default: "192" },
      "host-blocks": { type: "string", default: "256" },
      topic: { type: "string", default: "xllm-kv" },
      warmpath: { type: "string", default: "http://127.0.0.1:8888" },
      "etcd-addr": { type: "string" },
      demo: { type: "boolean", default: false },
    },
  });
  const address = canonicalEndpoint(`tcp://${values.name}`)?.slice("tcp://".length);
  if (address === undefined) throw wrong("name", values.name, "host:port that Warmpath can reach");
  const colon = address.lastIndexOf(":");
  const httpPort = Number(address.slice(colon + 1));
  if (URL.parse(values.warmpath) === null) throw wrong("warmpath", values.warmpath, "a URL");
  for (const flag of ["bind", "event-port", "replay-port", "etcd-addr"] as const) {
    if (values.demo && values[flag] !== undefined)
      throw new Error(`--${flag} cannot be with --demo, which listens on free ports`);
  }
  const ports = {
    httpPort,
    eventPort: integer("event-port", values["event-port"] ?? String(httpPort + EVENT_PORT_OFFSET), 1, PORT_MAX),
    replayPort: integer("replay-port", values["replay-port"] ?? String(httpPort + REPLAY_PORT_OFFSET), 1, PORT_MAX),
  };
  return {
    name: address,
    host: values.demo ? LOOPBACK : address.slice(0, colon),
    ...(values.demo ? { httpPort: 0, eventPort: 0, replayPort: 0 } : ports),
    bind: values.bind ?? LOOPBACK,
    blockSize: integer("block-size", values["block-size"], 1, COUNT_MAX),
    deviceBlocks: integer("device-blocks", values["device-blocks"], 1, COUNT_MAX),
    hostBlocks: integer("host-blocks", values["host-blocks"], 0, COUNT_MAX),
    topic: values.topic,
    warmpathUrl: values.warmpath,
    etcdAddress: values["etcd-addr"] ?? null,
    isInDemo: values.demo,
  };
}

function integer(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw wrong(flag, text, `an integer from ${min} to ${max}`);
}

function wrong(flag: string, found: string, needed: string): Error {
  return new Error(`--${flag} is ${JSON.stringify(found)}, ${needed} is needed`);
}
