/** A directory that remembers what it was asked, and an app around it and a real fleet that tests talk to without a socket. */

import type { LogFields } from "#base";
import { type Namespace, type StreamMatch, type StreamReport, TOKENS_MAX } from "#domain";
import { type AppDependencies, createApp, DecisionLog, type KvDirectory, MeteredDirectory, observeDecisions } from "#http";
import { MetricsRegistry } from "#metrics";
import { Router, type RouterOptions } from "#routing";
import { Fleet } from "../../src/fleet/fleet.ts";
import { HttpRegistry } from "../../src/fleet/http-registry.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** One buffer for all tests: the app asks for the full length, and no test keeps tokens in it. */
const tokens = new Uint32Array(TOKENS_MAX);

class FakeDirectory implements KvDirectory {
  readonly tokens = tokens;
  readonly figures = { entries: 12, bytesInUse: 65_536, bytesMax: 655_360, bytesReserved: 131_072, loadFactor: 0.5 };
  answer: StreamMatch[] | "busy" | Error = [];
  /** The prompts asked for, with the filter and the namespace of each. */
  readonly asked: { tokens: number[]; instanceNames: string[] | null; namespace: Namespace | null }[] = [];

  match(tokenCount: number, instanceNames: ReadonlySet<string> | null, namespace: Namespace | null): StreamMatch[] | "busy" {
    const prompt = [...tokens.subarray(0, tokenCount)];
    this.asked.push({ tokens: prompt, instanceNames: instanceNames && [...instanceNames], namespace });
    if (this.answer instanceof Error) throw this.answer;
    return this.answer;
  }
}

interface LoggedError {
  message: string;
  fields: LogFields | undefined;
}

interface FakeAppOptions {
  internalApiToken?: string;
  notReady?: string[];
  notRouting?: string[];
  /** Nobody is routed to; readiness does not ask for instances. */
  isObservation?: boolean;
  /** Beside the defaults of the settings. */
  routing?: Partial<RouterOptions>;
  /** Instances that the fleet takes. */
  instancesMax?: number;
}

/**
 * The app with a fake directory; `post` sends a query body. Its fleet and its router move by `clock` alone, and nobody answers its probes;
 * `excluded` and `taken` are what the subscriptions say: why an instance is not listened to, and whose an endpoint is.
 */
export function createFakeApp(options: FakeAppOptions = {}) {
  const directory = new FakeDirectory();
  const logged: LoggedError[] = [];
  const reports: StreamReport[] = [];
  const clock = new FakeClock();
  const logger: AppDependencies["logger"] = {
    info() {},
    warn() {},
    error: (message, fields) => logged.push({ message, fields }),
  };
  const fleet = new Fleet({
    clock,
    limits: {
      leaseLostHeartbeatTimeoutMs: 3000,
      suspectTimeoutMs: 15_000,
      loadReportMaxAgeMs: 10_000,
      ...(options.instancesMax !== undefined && { instancesMax: options.instancesMax }),
    },
    prober: { probe: async () => false },
    logger,
  });
  const excluded = new Map<string, string>();
  const taken = new Map<string, string>();
  const unscraped = new Map<string, string>();
  const registrations = new HttpRegistry({
    fleet,
    clock,
    conflictOf: ({ eventEndpoints }) => {
      const endpoint = eventEndpoints?.find((candidate) => taken.has(candidate));
      return endpoint === undefined ? null : { endpoint, instanceName: taken.get(endpoint) ?? "" };
    },
    logger,
    heartbeatLeaseMs: 3000,
  });
  const metrics = new MetricsRegistry();
  const metered = new MeteredDirectory(directory, metrics);
  const decisionLog = new DecisionLog(clock, 0);
  const count = observeDecisions(metrics, options.routing?.policy ?? "CAR");
  const router = new Router({
    policy: "CAR",
    prefillLambda: 0.5,
    hostHitWeight: 0.5,
    diskHitWeight: 0.25,
    trackInFlight: false,
    predictionWindowMs: 0,
    targetTtftMs: 1000,
    targetTpotMs: 50,
    directory: metered,
    fleet,
    clock,
    onDecision(decision, prompt, durationMs) {
      count(decision, prompt, durationMs);
      decisionLog.note(decision, prompt);
    },
    ...options.routing,
  });
  fleet.listener = {
    deregistered(name) {
      registrations.deregistered(name);
      router.deregistered(name);
    },
    changed() {},
  };
  const dependencies: AppDependencies = {
    directory: metered,
    readiness: {
      notReady: () => options.notReady ?? null,
      notRouting: () => options.notRouting ?? null,
      notServing: () => {
        const starting = options.isObservation ? options.notReady : options.notRouting;
        if (starting !== undefined) return { kind: "not-ready", reasons: starting };
        const reasons = options.isObservation ? null : router.notServing();
        return reasons && { kind: "no-instance", reasons };
      },
    },
    fleet,
    subscriptions: { statusOf: (name) => ({ streams: [], excluded: excluded.get(name) ?? null }) },
    router,
    registrations,
    scrapes: { problemOf: (name) => unscraped.get(name) ?? null },
    policy: "CAR",
    maxBlocksPerStream: 1024,
    decisionLog,
    clock,
    reports: async () => reports,
    ingestCrashes: () => 0,
    metrics,
    loop: { connections: () => [{ registry: "etcd", isConnected: true }] },
    routerBooks: router,
    logger,
    internalApiToken: options.internalApiToken ?? "",
  };
  const app = createApp(dependencies);
  const post = (
    body: Uint8Array | string,
    type: string | null = "application/json",
    query = "",
    headers: Record<string, string> = {},
  ) =>
    app.handle(
      new Request(`http://localhost/v1/internal/kv-cache/query${query}`, {
        method: "POST",
        // Bytes, so that no content type is added.
        body: typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body),
        headers: { ...headers, ...(type !== null && { "content-type": type }) },
      }),
    );
  /** Sends `body` as JSON, text as it is. */
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    app.handle(
      new Request(`http://localhost${path}`, {
        method,
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      }),
    );
  return { app, clock, dependencies, directory, excluded, fleet, logged, post, registrations, reports, router, send, taken };
}

/** A match of three device blocks and one host block of 128 tokens, synchronized after batch 7. */
export function streamMatch(instanceName: string, dpRank: number, changes: Partial<StreamMatch> = {}): StreamMatch {
  return {
    stream: {
      instanceName,
      dpRank,
      engine: "xllm",
      blockSize: 128,
      hashSeed: 1024,
      endpoint: "tcp://10.0.0.5:18000",
      replayEndpoint: "tcp://10.0.0.5:38000",
      topic: "xllm-kv",
      curveServerKey: null,
      incarnation: "",
    },
    unsynchronized: null,
    coverage: "full",
    batchSeq: 7,
    deviceHitBlocks: 3,
    hostOnlyHitBlocks: 1,
    diskOnlyHitBlocks: 0,
    deviceBlocks: 10,
    hostBlocks: 5,
    diskBlocks: 2,
    ...changes,
  };
}
