/** An engine in a process of its own, which can be killed as a crash does. */

import { freePortRuns } from "../support/free-ports.ts";
import type { EngineOrder } from "./engine.process.ts";

/** From the port in the engine's name, where nothing listens. */
export const EVENT_PORT_OFFSET = 1;
export const REPLAY_PORT_OFFSET = 2;

export class EngineProcess {
  /** `host:port`. */
  readonly name: string;
  readonly eventEndpoint: string;
  readonly replayEndpoint: string;
  readonly #process: Bun.Subprocess<Blob, "pipe", "inherit">;

  private constructor({ name, eventPort, replayPort }: EngineOrder, process: Bun.Subprocess<Blob, "pipe", "inherit">) {
    this.name = name;
    this.eventEndpoint = `tcp://127.0.0.1:${eventPort}`;
    this.replayEndpoint = `tcp://127.0.0.1:${replayPort}`;
    this.#process = process;
  }

  /** One that holds the prompt; resolves when it listens. */
  static async start(prompt: Uint32Array, blockSize: number): Promise<EngineProcess> {
    const [port] = freePortRuns(1, 1 + REPLAY_PORT_OFFSET);
    const ports = { eventPort: port + EVENT_PORT_OFFSET, replayPort: port + REPLAY_PORT_OFFSET };
    const order: EngineOrder = { name: `127.0.0.1:${port}`, ...ports, blockSize, tokens: Array.from(prompt) };
    const script = new URL("./engine.process.ts", import.meta.url).pathname;
    const process = Bun.spawn([Bun.argv[0], script], {
      stdin: new Blob([JSON.stringify(order)]),
      stdout: "pipe",
      stderr: "inherit",
    });
    const { done } = await process.stdout.getReader().read();
    if (done) throw new Error(`Cannot start the engine: it ended with code ${await process.exited}`);
    return new EngineProcess(order, process);
  }

  /** Sends SIGKILL, and resolves when the process has ended. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
  }
}
