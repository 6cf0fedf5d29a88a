/** A process that burdens the service: it reports what happened over its channel, and can be asked to end or be killed. */

import { join } from "node:path";
import { emptyReport, type TallyReport } from "./tally.ts";

/** Ends by itself well before. */
const END_TIMEOUT_MS = 5000;

export class Child {
  readonly #process: Bun.Subprocess;
  #report: TallyReport = emptyReport();

  /** `script` is a file beside this one. */
  constructor(script: "engines.process.ts" | "client.process.ts", order: object) {
    this.#process = Bun.spawn([process.execPath, join(import.meta.dir, script), JSON.stringify(order)], {
      stdio: ["ignore", "inherit", "inherit"],
      ipc: (report: TallyReport) => {
        this.#report = report;
      },
    });
  }

  get report(): TallyReport {
    return this.#report;
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Lets it tidy up; whoever takes too long is killed. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), END_TIMEOUT_MS);
    this.#process.disconnect();
    await this.#process.exited;
    clearTimeout(timer);
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
  }
}
