/**
 * The one file where all rooms meet: what is started, in which order, and what is stopped, in reverse.
 *
 *   registries ──▶ fleet ──▶ subscriptions ──┐
 *   engines ───────────────▶ ingest thread ──┴▶ index ──▶ directory ──▶ HTTP ──▶ clients
 */

import { type Logger, systemClock } from "#base";
import type { Config } from "#config";
import { type OpenFleet, openFleet } from "#fleet";
import { createApp, type Listener, listen } from "#http";
import { worstCaseBytes } from "#index";
import { IngestSupervisor } from "#stream";
import { loadLibzmq } from "#wire";

export class Service {
  readonly #listener: Listener;
  readonly #fleet: OpenFleet;
  readonly #supervisor: IngestSupervisor;

  private constructor(listener: Listener, fleet: OpenFleet, supervisor: IngestSupervisor) {
    this.#listener = listener;
    this.#fleet = fleet;
    this.#supervisor = supervisor;
  }

  /** Throws LibzmqNotFoundError, ListenError. The port is open when this is done; queries are answered once the fleet is known. */
  static async start(config: Config, logger: Logger): Promise<Service> {
    const { path, version } = loadLibzmq();
    logger.info("libzmq is loaded", { version: version.join("."), path });
    announceLimits(config, logger);

    const supervisor = await IngestSupervisor.start({ limits: config.kvEvents, logger });
    const fleet = createFleet(config, supervisor, logger);
    const app = createApp({
      directory: supervisor.directory,
      readiness: { notReady: () => supervisor.notReady() ?? fleet.loop.notReady() },
      reports: () => supervisor.reports(),
      ...fleet,
      clock: systemClock,
      logger,
      internalApiToken: config.internalApiToken,
    });
    try {
      const listener = listen(app, { host: config.host, port: config.httpServerPort });
      fleet.loop.start();
      logger.info("Listening", { host: config.host, port: listener.port });
      return new Service(listener, fleet, supervisor);
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

/** What an operator should know of the limits at start. */
function announceLimits({ kvEventsConfigFile, kvEvents }: Config, logger: Logger): void {
  if (kvEventsConfigFile === "") {
    logger.info("No KV events file is given: only instances that register with their event endpoints are listened to");
  }
  const gibibytes = worstCaseBytes(kvEvents) / 2 ** 30;
  logger.info("Index limits", {
    max_streams: kvEvents.maxStreams,
    max_blocks_per_stream: kvEvents.maxBlocksPerStream,
    worst_case_gib: Number(gibibytes.toFixed(2)),
    note: gibibytes > 4 ? "memory ends at 4 GiB before all streams reach their limit of blocks" : "",
  });
}
