/**
 * The one file where all rooms meet: what is started, in which order, and what is stopped, in reverse.
 *
 *   engines ──▶ ingest thread ──▶ index ──▶ directory ──▶ HTTP ──▶ clients
 */

import type { Logger } from "#base";
import type { Config } from "#config";
import { createApp, type Listener, listen } from "#http";
import { worstCaseBytes } from "#index";
import { IngestSupervisor } from "#stream";
import { loadLibzmq } from "#wire";

export class Service {
  readonly #listener: Listener;
  readonly #supervisor: IngestSupervisor;

  private constructor(listener: Listener, supervisor: IngestSupervisor) {
    this.#listener = listener;
    this.#supervisor = supervisor;
  }

  /** Throws LibzmqNotFoundError, ListenError. The port is open when this is done; queries are answered once streams are set up. */
  static async start(config: Config, logger: Logger): Promise<Service> {
    const { kvEvents } = config;
    const { path, version } = loadLibzmq();
    logger.info("libzmq is loaded", { version: version.join("."), path });
    announceLimits(config, logger);

    const supervisor = await IngestSupervisor.start({ limits: kvEvents, logger });
    const { directory } = supervisor;
    const app = createApp({
      directory,
      readiness: supervisor,
      reports: () => supervisor.reports(),
      logger,
      internalApiToken: config.internalApiToken,
    });
    try {
      const listener = listen(app, { host: config.host, port: config.httpServerPort });
      logger.info("Listening", { host: config.host, port: listener.port });
      for (const stream of kvEvents.streams) supervisor.addStream(stream);
      return new Service(listener, supervisor);
    } catch (error) {
      await supervisor.stop();
      throw error;
    }
  }

  /** The HTTP port in use. */
  get port(): number {
    return this.#listener.port;
  }

  /** Running requests get their answers; then every socket is closed and the ingest thread has ended. */
  async stop(): Promise<void> {
    await this.#listener.stop();
    await this.#supervisor.stop();
  }
}

/** What an operator should know of the limits at start. */
function announceLimits({ kvEventsConfigFile, kvEvents }: Config, logger: Logger): void {
  if (kvEventsConfigFile === "") {
    logger.warn("No KV events file is given: no engine is listened to", { needed: "--kv-events-config-file" });
  } else if (kvEvents.discovery !== null) {
    logger.warn("Discovery has no source of instances yet: no engine is listened to", {
      needed: '"streams" in the KV events file',
    });
  }
  const gibibytes = worstCaseBytes(kvEvents) / 2 ** 30;
  logger.info("Index limits", {
    max_streams: kvEvents.maxStreams,
    max_blocks_per_stream: kvEvents.maxBlocksPerStream,
    worst_case_gib: Number(gibibytes.toFixed(2)),
    note: gibibytes > 4 ? "memory ends at 4 GiB before all streams reach their limit of blocks" : "",
  });
}
