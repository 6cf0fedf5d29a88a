/**
 * A real etcd on the loopback interface with data of its own, for tests. It can be killed and started again on the same ports and
 * data. Without an etcd tests that need one are skipped, which in CI is a failure.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Etcd3 } from "etcd3";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";

/** Debian installs it there without putting the folder on everybody's PATH. */
const FALLBACK = "/usr/bin/etcd";

const READY_TIMEOUT_MS = 10_000;

const ROOT_PASSWORD = "root-password";

/** The command that starts an etcd; null where there is none. */
export async function locateEtcd(): Promise<string | null> {
  return Bun.which("etcd") ?? ((await Bun.file(FALLBACK).exists()) ? FALLBACK : null);
}

/** Null where there is none: the suite that asks is skipped then. Throws in CI. */
export async function findEtcd(): Promise<string | null> {
  const found = await locateEtcd();
  if (found !== null) return found;
  if (Bun.env.CI === "true") throw new Error('Cannot test against etcd: no "etcd" is on the PATH, its server is needed');
  console.warn('Tests against etcd are skipped: no "etcd" is on the PATH');
  return null;
}

export class EtcdServer {
  readonly #binary: string;
  readonly #directory: string;
  readonly #clientPort: number;
  readonly #peerPort: number;
  #process: Bun.Subprocess | null = null;
  #root: { username: string; password: string } | null = null;

  private constructor(binary: string, directory: string, [clientPort, peerPort]: readonly number[]) {
    this.#binary = binary;
    this.#directory = directory;
    this.#clientPort = clientPort;
    this.#peerPort = peerPort;
  }

  /** Resolves when it answers. */
  static async start(binary: string): Promise<EtcdServer> {
    const server = await EtcdServer.prepare(binary);
    await server.restart();
    return server;
  }

  /** One that is not running yet: `restart` starts it. */
  static async prepare(binary: string): Promise<EtcdServer> {
    return new EtcdServer(binary, await mkdtemp(join(tmpdir(), "warmpath-etcd-")), freePorts(2));
  }

  get port(): number {
    return this.#clientPort;
  }

  /** `http://127.0.0.1:port`. */
  get endpoint(): string {
    return `http://127.0.0.1:${this.#clientPort}`;
  }

  /** A client of this server, as root where users are asked for; the caller closes it. */
  client(): Etcd3 {
    return new Etcd3({ hosts: this.endpoint, ...(this.#root !== null && { auth: this.#root }) });
  }

  /** Starts it on the data that it has, once it is not running; resolves when it answers. */
  async restart(): Promise<void> {
    const peer = `http://127.0.0.1:${this.#peerPort}`;
    const flags = {
      "data-dir": this.#directory,
      "listen-client-urls": this.endpoint,
      "advertise-client-urls": this.endpoint,
      "listen-peer-urls": peer,
      "initial-advertise-peer-urls": peer,
      "initial-cluster": `default=${peer}`,
      "heartbeat-interval": "20",
      "election-timeout": "100",
      logger: "zap",
      "log-level": "fatal",
      "unsafe-no-fsync": "true",
    };
    const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    this.#process = Bun.spawn([this.#binary, ...words], { stdio: ["ignore", "ignore", "inherit"] });
    await eventually("etcd answers", () => this.#isHealthy(), READY_TIMEOUT_MS);
  }

  /** Switches authentication on, with a root user that `client` works as from now on. */
  async enableAuthentication(): Promise<void> {
    const client = this.client();
    await client.user("root").create(ROOT_PASSWORD);
    await client.role("root").create();
    await client.user("root").addRole("root");
    await client.auth.authEnable();
    client.close();
    this.#root = { username: "root", password: ROOT_PASSWORD };
  }

  /** Ends it without a chance to tidy up; its data stay. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
    this.#process = null;
  }

  /** Ends it and removes its data. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #isHealthy(): Promise<boolean> {
    if (this.#process?.exitCode !== null) {
      throw new Error(`Cannot start etcd: ${this.#binary} ended with exit code ${this.#process?.exitCode}`);
    }
    const response = await fetch(`${this.endpoint}/health`, { signal: AbortSignal.timeout(1000) }).catch(() => null);
    return response?.ok === true;
  }
}
