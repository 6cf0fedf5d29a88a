/** One source with what it tells recorded, and the servers and proxies of its test; `stop` ends them all. */

import { expect } from "bun:test";
import { EtcdSource, type EtcdSourceOptions } from "../../../src/fleet/etcd/mod.ts";
import { EtcdServer } from "../../support/etcd-server.ts";
import { eventually } from "../../support/eventually.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";
import { RecordingLogger } from "./recording-logger.ts";
import { RecordingRegistrar } from "./recording-registrar.ts";

type Options = Pick<EtcdSourceOptions, "addresses" | "namespace"> & Partial<EtcdSourceOptions>;

export class FollowedEtcd {
  readonly registrar = new RecordingRegistrar();
  readonly logger = new RecordingLogger();
  readonly #toStop: { stop(): unknown }[] = [];
  #source: EtcdSource | null = null;

  create(options: Options): EtcdSource {
    this.#source = new EtcdSource({ credentials: null, registrar: this.registrar, logger: this.logger, ...options });
    this.#toStop.push(this.#source);
    return this.#source;
  }

  /** Resolves when it watches. */
  async follow(options: Options): Promise<EtcdSource> {
    const source = this.create(options);
    source.start();
    await eventually("it is connected", () => source.state.isConnected);
    return source;
  }

  proxyTo(server: EtcdServer): TcpProxy {
    const proxy = new TcpProxy(server.port);
    this.#toStop.push(proxy);
    return proxy;
  }

  async serverOf(binary: string, { isRunning = true } = {}): Promise<EtcdServer> {
    const server = isRunning ? await EtcdServer.start(binary) : await EtcdServer.prepare(binary);
    this.#toStop.push(server);
    return server;
  }

  /** Waits until the fleet was told exactly this since the last time. */
  async sees(...calls: string[]): Promise<void> {
    await eventually(`${calls.length} calls`, () => this.registrar.calls.length >= calls.length).catch(() => {});
    expect(this.registrar.take()).toEqual(calls);
  }

  async reconnect(proxy: TcpProxy): Promise<void> {
    proxy.refuse();
    await eventually("the loss is noticed", () => this.#source?.state.isConnected === false);
    proxy.forward();
    await eventually("it is connected again", () => this.#source?.state.isConnected === true);
  }

  async stopsWithin(limitMs: number, source: EtcdSource): Promise<void> {
    const outcome = await Promise.race([source.stop().then(() => "stopped"), Bun.sleep(limitMs).then(() => "late")]);
    expect(outcome).toBe("stopped");
  }

  async stop(): Promise<void> {
    for (const one of this.#toStop) await one.stop();
  }
}
