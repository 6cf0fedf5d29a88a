/**
 * What a pod says about the instance in it. A pod is there while it runs, has an address, is ready and is not being deleted; its
 * uid is the incarnation. Its annotations are read only while it is there.
 */

import type { InstanceRegistration } from "#domain";
import { PORT_MAX, type PodAnnotations, readAnnotations } from "./annotations.ts";
import type { Pod } from "./api-objects.ts";

export interface PodReading {
  uid: string;
  /** `namespace/name`, as people know the pod. */
  podName: string;
  presence: PodPresence;
}

type PodPresence =
  | { kind: "there"; registration: InstanceRegistration }
  /** It is there, but describes no instance. */
  | { kind: "wrong"; reason: string }
  | { kind: "away" };

/** Port of a pod that names none: that of vLLM's server. */
const HTTP_PORT_DEFAULT = 8000;

/** Port of rank 0's publisher where vLLM and SGLang are not told another. */
const EVENT_PORT_DEFAULT = 5557;

export function readPod(pod: Pod): PodReading {
  const { uid, namespace, name } = pod.metadata;
  const podName = `${namespace}/${name}`;
  const podIp = addressOf(pod);
  return { uid, podName, presence: podIp === null ? { kind: "away" } : describedBy(pod, podName, podIp) };
}

/** The pod's address, IPv6 in brackets; null while it is not there. */
function addressOf({ metadata, status }: Pod): string | null {
  const isReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const isDeleted = (metadata.deletionTimestamp ?? null) !== null;
  const podIp = status?.podIP ?? "";
  if (status?.phase !== "Running" || !isReady || isDeleted || podIp === "") return null;
  return podIp.includes(":") ? `[${podIp}]` : podIp;
}

function describedBy(pod: Pod, podName: string, host: string): PodPresence {
  const problems: string[] = [];
  const annotations = readAnnotations(pod.metadata.annotations ?? {}, problems);
  const { role, engine, dpSize, blockSize, topic, hashSeed, curveServerKey } = annotations;
  const eventEndpoints = eventEndpointsOf(annotations, host, problems);
  const replayEndpoints = replayEndpointsOf(annotations, host, problems);
  if (problems.length > 0) {
    return { kind: "wrong", reason: `Cannot register pod ${JSON.stringify(podName)}: ${problems.join("; ")}` };
  }
  const name = `${host}:${annotations.port ?? containerPort(pod) ?? HTTP_PORT_DEFAULT}`;
  const registration: InstanceRegistration = {
    name,
    address: name,
    role,
    backend: engine,
    incarnation: pod.metadata.uid,
    dpSize,
    blockSize,
    hashSeed,
    topic,
    curveServerKey,
    eventEndpoints,
    replayEndpoints,
    ttftSamples: [],
    tpotSamples: [],
  };
  return { kind: "there", registration };
}

/** The TCP port named "http", else the first one. */
function containerPort({ spec }: Pod): number | null {
  const ports = (spec.containers ?? [])
    .flatMap(({ ports }) => ports ?? [])
    .filter(({ protocol }) => (protocol ?? "TCP") === "TCP");
  const port = ports.find(({ name }) => name === "http") ?? ports[0];
  return port?.containerPort ?? null;
}

/** xLLM follows the rule of offsets unless it is told otherwise. */
function eventEndpointsOf({ engine, eventPort, dpSize }: PodAnnotations, host: string, problems: string[]): string[] | null {
  const port = eventPort ?? (engine === "xllm" ? null : EVENT_PORT_DEFAULT);
  return port === null ? null : rankEndpoints("event-port", port, dpSize, host, problems);
}

/** vLLM and SGLang answer replays only where they are told to. */
function replayEndpointsOf(
  { engine, replayPort, dpSize }: PodAnnotations,
  host: string,
  problems: string[],
): (string | null)[] | null {
  if (replayPort !== null) return rankEndpoints("replay-port", replayPort, dpSize, host, problems);
  return engine === "xllm" ? null : new Array<null>(dpSize).fill(null);
}

function rankEndpoints(what: string, port: number, dpSize: number, host: string, problems: string[]): string[] {
  const lastPort = port + dpSize - 1;
  if (lastPort > PORT_MAX) {
    problems.push(`${what} ${port} gives rank ${dpSize - 1} port ${lastPort}, one up to ${PORT_MAX} is needed`);
  }
  return Array.from({ length: dpSize }, (_, rank) => `tcp://${host}:${port + rank}`);
}
