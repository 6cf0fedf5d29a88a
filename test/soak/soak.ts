/**
 * A soak: everything at once for a while, a rest and a look; everything at once for much longer, the same rest and a second look.
 * What is larger then has grown by what happened in between.
 */

import { EtcdServer, locateEtcd } from "../support/etcd-server.ts";
import { Churn } from "./churn.ts";
import type { Quantity } from "./comparison.ts";
import { compareLooks, type Look, lookAtRest, type Strictness } from "./look.ts";
import type { SoakPlan } from "./plan.ts";
import { askLargest, rest } from "./rest.ts";
import { compareSamples, describeProcess, describeSample, type Sample, takeSample } from "./samples.ts";
import { ServiceProcess } from "./service-process.ts";
import { addReport, emptyReport, type TallyReport } from "./tally.ts";

export interface SoakResult {
  quantities: Quantity[];
  report: TallyReport;
  /** What the service wrote beside ordinary log lines. */
  errorLines: readonly string[];
  exitCode: number;
}

/** Runs it; `tell` gets a line for each step and each sample. Throws with the service's last words when it cannot go on. */
export async function runSoak(plan: SoakPlan, strictness: Strictness, tell: (line: string) => void): Promise<SoakResult> {
  const etcdBinary = await locateEtcd();
  if (etcdBinary === null) tell('There is no "etcd" on the PATH: engines register over HTTP alone');
  const etcd = etcdBinary === null ? null : await EtcdServer.start(etcdBinary);
  try {
    const service = await ServiceProcess.start(plan, etcd?.endpoint ?? null);
    return await new Soak(plan, service, etcd, tell).run(strictness);
  } finally {
    await etcd?.stop();
  }
}

class Soak {
  readonly #plan: SoakPlan;
  readonly #service: ServiceProcess;
  readonly #etcd: EtcdServer | null;
  readonly #tell: (line: string) => void;
  readonly #report = emptyReport();

  constructor(plan: SoakPlan, service: ServiceProcess, etcd: EtcdServer | null, tell: (line: string) => void) {
    this.#plan = plan;
    this.#service = service;
    this.#etcd = etcd;
    this.#tell = tell;
    tell(`The service is process ${service.pid} at ${service.url}; seed ${plan.seed}`);
  }

  async run(strictness: Strictness): Promise<SoakResult> {
    const { warmUpSeconds, churnSeconds, seed } = this.#plan;
    try {
      const first = await this.#churn("warm-up", warmUpSeconds, seed);
      const before = await this.#look();
      const second = await this.#churn("churn", churnSeconds, seed + 1);
      const after = await this.#look();
      const underWay = strictness.isWarmUpSteady ? compareSamples(first, second, strictness) : [];
      const quantities = [...compareLooks(before, after, strictness), ...underWay];
      const exitCode = await this.#service.stop();
      return { quantities, report: this.#report, errorLines: this.#service.errorLines, exitCode };
    } catch (cause) {
      await this.#service.stop();
      const reason = cause instanceof Error ? cause.message : String(cause);
      const said = [...this.#report.violations, this.#service.logTail].join("\n");
      throw new Error(`Cannot go on with the soak: ${reason}\n${said}`, { cause });
    }
  }

  async #churn(name: string, seconds: number, seed: number): Promise<Sample[]> {
    const startMs = performance.now();
    const secondsSoFar = () => (performance.now() - startMs) / 1000;
    const samples: Sample[] = [];
    const churn = new Churn(this.#plan, this.#service.url, this.#etcd, seed);
    try {
      while (secondsSoFar() < seconds) {
        await Bun.sleep(Math.min(this.#plan.sampleSeconds, seconds - secondsSoFar()) * 1000);
        const sample = await takeSample(this.#service);
        samples.push(sample);
        this.#tell(`${name}, ${secondsSoFar().toFixed(0)} s: ${describeSample(sample)}`);
      }
    } finally {
      addReport(this.#report, await churn.end());
    }
    return samples;
  }

  async #look(): Promise<Look> {
    await rest(this.#service, this.#plan.restSeconds);
    const status = await askLargest(this.#service);
    if (status !== 200) this.#report.violations.push(`largest prompt at rest: ${status}`);
    const look = await lookAtRest(this.#service);
    this.#tell(`rest: ${describeProcess(look.process)}`);
    return look;
  }
}
