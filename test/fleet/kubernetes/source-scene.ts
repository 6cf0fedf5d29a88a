import type { LogFields, Logger } from "#base";
import { KubernetesSource, type KubernetesSourceOptions } from "../../../src/fleet/kubernetes/mod.ts";
import { eventually } from "../../support/eventually.ts";
import { Environment } from "./environment.ts";
import { FakeApiServer } from "./fake-api-server.ts";
import { RecordingRegistrar } from "./recording-registrar.ts";

/** A source without credentials beside an API server without TLS; nothing runs before `start`. */
export class SourceScene {
  readonly environment = new Environment();
  readonly registrar = new RecordingRegistrar();
  readonly log: { level: string; message: string; fields: LogFields }[] = [];
  readonly server: FakeApiServer;
  readonly source: KubernetesSource;

  private constructor(server: FakeApiServer, options: Partial<KubernetesSourceOptions>) {
    this.server = server;
    // The client refuses http to servers whose certificates it would check.
    this.environment.writeKubeconfig({ server: server.url, "insecure-skip-tls-verify": true });
    this.source = new KubernetesSource({
      labelSelector: "",
      namespace: "",
      registrar: this.registrar,
      logger: this.#logger(),
      ...options,
      limits: { backoff: { firstMs: 5, maxMs: 20 }, ...options.limits },
    });
  }

  static async create(options: Partial<KubernetesSourceOptions> = {}): Promise<SourceScene> {
    return new SourceScene(await FakeApiServer.start(), options);
  }

  /** Starts the source, and waits until it watches. */
  async follow(): Promise<void> {
    this.source.start();
    await eventually("a watch", () => this.server.watchCount === 1);
    this.registrar.take();
  }

  /** Until the registrar was called like this last. */
  async called(call: string): Promise<void> {
    await eventually(`${call}; called were ${this.registrar.calls}`, () => this.registrar.calls.at(-1) === call);
  }

  linesOf(level: string): string[] {
    return this.log.filter((line) => line.level === level).map(({ message }) => message);
  }

  async stop(): Promise<void> {
    await this.source.stop();
    await this.server.stop();
    this.environment.restore();
  }

  #logger(): Logger {
    const at =
      (level: string) =>
      (message: string, fields: LogFields = {}) => {
        this.log.push({ level, message, fields });
      };
    return { info: at("info"), warn: at("warn"), error: at("error") };
  }
}
