/**
 * The one file where all rooms meet: what is started, in which order, and what is stopped, in reverse.
 *
 *   registries ──▶ fleet ──┬▶ subscriptions ──┐             ┌────────▶ HTTP ──▶ clients
 *                          └──────────────────│──▶ router ──┤
 *   engines ────────────────▶ ingest thread ──┴▶ index ──▶ directory
 */

import { type Logger, systemClock } from "#base";
import type { Config } from "#config";
import { type OpenFleet, openFleet } from "#fleet";
import {
  createApp,
  DecisionLog,
  type KvDirectory,
  type Listener,
  listen,
  MeteredDirectory,
  observeDecisions,
  type Readiness,
  type Unready,
} from "#http";
import { worstCaseBytes } from "#index";
import { MetricsRegistry, type ProcessWatch, registerProcessMetrics } from "#metrics";
import { type DecisionObserver, Router } from "#routing";
import { IngestSupervisor } from "#stream";
import { loadLibzmq } from "#wire";

export class Service {
  readonly #listener: Listener;
  readonly #fleet: OpenFleet;
  readonly #supervisor: IngestSupervisor;
  readonly #processWatch: ProcessWatch;

  private constructor(listener: Listener, fleet: OpenFleet, supervisor: IngestSupervisor, processWatch: ProcessWatch) {
    this.#listener = listener;
    this.#fleet = fleet;
    this.#supervisor = supervisor;
    this.#processWatch = processWatch;
  }

  /** Throws LibzmqNotFoundError, ListenError. The port is open when this is done; queries are answered once the fleet is known. */
  static async start(config: Config, logger: Logger): Promise<Service> {
    const { path, version } = loadLibzmq();
    logger.info("libzmq is loaded", { version: version.join("."), path });
    announceLimits(config, logger);

    const supervisor = await IngestSupervisor.start({ limits: config.kvEvents, logger, curveSecretKey: config.curveSecretKey });
    const fleet = createFleet(config, supervisor, logger);
    const metrics = new MetricsRegistry();
    const directory = new MeteredDirectory(supervisor.directory, metrics);
    const decisionLog = new DecisionLog(systemClock, Date.now());
    const count = observeDecisions(metrics, config.loadBalancePolicy);
    const router = createRouter(config, directory, fleet, (decision, prompt, durationMs) => {
      count(decision, prompt, durationMs);
      decisionLog.note(decision, prompt);
    });
    const app = createApp({
      metrics,
      directory,
      readiness: createReadiness(config, supervisor, fleet, router),
      reports: () => supervisor.reports(),
      ingestCrashes: () => supervisor.crashes,
      ...fleet,
      router,
      routerBooks: router,
      decisionLog,
      policy: config.loadBalancePolicy,
      maxBlocksPerStream: config.kvEvents.maxBlocksPerStream,
      clock: systemClock,
      logger,
      internalApiToken: config.internalApiToken,
    });
    try {
      const listener = listen(app, { host: config.host, port: config.httpServerPort, tls: config.tls });
      fleet.loop.start();
      logger.info("Listening", { host: config.host, port: listener.port });
      return new Service(listener, fleet, supervisor, registerProcessMetrics(metrics));
    } catch (error) {
      await supervisor.stop();
      throw error;
    }
  }

  /** The HTTP port in use. */
  get port(): number {
    return this.#listener.port;
  }

  /** Running requests get their answers; then nothing is asked of the fleet any more, and every socket is closed. */
  async stop(): Promise<void> {
    this.#processWatch.stop();
    await this.#listener.stop();
    await this.#fleet.loop.stop();
    await this.#supervisor.stop();
  }
}

function createFleet(config: Config, streams: IngestSupervisor, logger: Logger): OpenFleet {
  const { kvEvents, kubernetesLabelSelector: labelSelector } = config;
  const { refreshIntervalMs, enabled, ...discovery } = kvEvents.discovery;
  return openFleet({
    clock: systemClock,
    logger,
    limits: config,
    probe: { timeoutMs: config.instanceDeleteProbeTimeoutMs, attempts: config.instanceDeleteProbeAttempts },
    etcd:
      config.etcdAddresses.length === 0
        ? null
        : { addresses: config.etcdAddresses, namespace: config.etcdNamespace, credentials: config.etcdCredentials },
    kubernetes: labelSelector === "" ? null : { labelSelector, namespace: config.kubernetesNamespace },
    scrapeIntervalMs: config.loadScrapeIntervalMs,
    refreshIntervalMs,
    rules: { ...discovery, isDiscoveryEnabled: enabled, maxStreams: kvEvents.maxStreams, staticStreams: kvEvents.streams },
    streams,
  });
}

function createRouter(config: Config, directory: KvDirectory, { fleet, loop }: OpenFleet, onDecision: DecisionObserver): Router {
  const router = new Router({
    policy: config.loadBalancePolicy,
    prefillLambda: config.carPrefillLambda,
    hostHitWeight: config.carHostHitWeight,
    diskHitWeight: config.carDiskHitWeight,
    trackInFlight: config.trackInflight,
    predictionWindowMs: config.predictResidencyMs,
    targetTtftMs: config.targetTtft,
    targetTpotMs: config.targetTpot,
    directory,
    fleet,
    onDecision,
    clock: systemClock,
  });
  loop.addFollower(router);
  return router;
}

function createReadiness(config: Config, supervisor: IngestSupervisor, fleet: OpenFleet, router: Router): Readiness {
  const readiness = {
    notReady: () => supervisor.notReady() ?? fleet.loop.notReady(),
    notRouting: () => supervisor.notStarted() ?? fleet.loop.notReady(),
    notServing: () =>
      isObservation(config, fleet)
        ? unready("not-ready", readiness.notReady())
        : (unready("not-ready", readiness.notRouting()) ?? unready("no-instance", router.notServing())),
  };
  return readiness;
}

function unready(kind: Unready["kind"], reasons: string[] | null): Unready | null {
  return reasons === null ? null : { kind, reasons };
}

/** Streams of a list alone, and nobody registered: whoever set that up asks who holds what, and routes nothing. */
function isObservation({ kvEvents }: Config, { fleet }: OpenFleet): boolean {
  return kvEvents.streams.length > 0 && fleet.instances().length === 0;
}

/** What an operator should know of the limits at start. */
function announceLimits({ loadBalancePolicy, kvEvents }: Config, logger: Logger): void {
  if (!kvEvents.discovery.enabled && kvEvents.streams.length === 0) {
    const heard =
      "Only instances that register with their event endpoints are listened to: no KV events are discovered or listed";
    if (loadBalancePolicy === "CAR") logger.warn(`${heard}, CAR takes what the others hold as nothing`);
    else logger.info(heard);
  }
  const gibibytes = worstCaseBytes(kvEvents) / 2 ** 30;
  logger.info("Index limits", {
    max_streams: kvEvents.maxStreams,
    max_blocks_per_stream: kvEvents.maxBlocksPerStream,
    worst_case_gib: Number(gibibytes.toFixed(2)),
    note: gibibytes > 4 ? "memory ends at 4 GiB before all streams reach their limit of blocks" : "",
  });
}
