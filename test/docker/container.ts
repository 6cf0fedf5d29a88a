/**
 * Runs an image as an orchestrator does that is as strict as it can be: its user, a read-only root, nothing that can be written to, no
 * capability, no new rights, and its process as the first of the container. Only the network is this machine's.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Image } from "./image.ts";
import { succeed } from "./image-tools.ts";

const NO_CAPABILITIES = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] };

const DEVICES = { type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755", "size=64k", "ro"] };

export class Container {
  readonly #bundle: string;
  readonly #name: string;
  readonly process: Bun.Subprocess<"ignore", "pipe", "pipe">;

  private constructor(bundle: string, name: string, process: Container["process"]) {
    this.#bundle = bundle;
    this.#name = name;
    this.process = process;
  }

  /** Starts the image's own command, with this environment added to the image's. */
  static async start({ config, root }: Image, environment: Record<string, string>): Promise<Container> {
    const bundle = await mkdtemp(join(tmpdir(), "warmpath-container-"));
    const [uid, gid] = config.User.split(":").map(Number);
    const specification = {
      ociVersion: "1.0.2",
      process: {
        user: { uid, gid },
        args: config.Entrypoint,
        env: [...config.Env, ...Object.entries(environment).map(([name, text]) => `${name}=${text}`)],
        cwd: "/",
        capabilities: NO_CAPABILITIES,
        noNewPrivileges: true,
      },
      root: { path: root, readonly: true },
      mounts: [
        { destination: "/proc", type: "proc", source: "proc" },
        { destination: "/dev", ...DEVICES },
      ],
      linux: { namespaces: ["pid", "ipc", "uts", "mount"].map((type) => ({ type })) },
    };
    await Bun.write(join(bundle, "config.json"), JSON.stringify(specification));
    const name = `warmpath-${crypto.randomUUID()}`;
    const child = Bun.spawn(["runc", "run", "--bundle", bundle, name], {
      env: { ...Bun.env, PATH: `${Bun.env.PATH}:/usr/sbin:/sbin` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Container(bundle, name, child);
  }

  /** Runs a further command in it, as a health check is run; its exit code. */
  async execute(command: string[]): Promise<number> {
    const child = Bun.spawn(["runc", "exec", this.#name, ...command], {
      env: { ...Bun.env, PATH: `${Bun.env.PATH}:/usr/sbin:/sbin` },
      stdio: ["ignore", "ignore", "ignore"],
    });
    return await child.exited;
  }

  async signal(signal: "TERM" | "KILL" | "STOP" | "CONT"): Promise<void> {
    await succeed("runc", "kill", this.#name, signal);
  }

  /** Ends it, however it is. */
  async remove(): Promise<void> {
    if (this.process.exitCode === null) await this.signal("KILL");
    await this.process.exited;
    await rm(this.#bundle, { recursive: true });
  }
}
