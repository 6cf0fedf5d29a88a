/** Everything at once, for some time: engines' processes that die and are replaced, clients, pages, and an etcd that dies too. */

import { SeededRandom } from "#sim";
import type { EtcdServer } from "../support/etcd-server.ts";
import { Child } from "./child.ts";
import type { ClientOrder } from "./client.process.ts";
import type { EnginesOrder } from "./engines.process.ts";
import type { SoakPlan } from "./plan.ts";
import { addReport, emptyReport, Tally, type TallyReport } from "./tally.ts";

/** How long etcd is away. */
const ETCD_AWAY_MS = 700;

export class Churn {
  readonly #plan: SoakPlan;
  readonly #url: string;
  readonly #etcd: EtcdServer | null;
  readonly #random: SeededRandom;
  readonly #hosts: Child[] = [];
  /** Of the processes that were replaced. */
  readonly #gone: TallyReport = emptyReport();
  readonly #tally = new Tally();
  readonly #client: Child;
  readonly #timers: Timer[] = [];
  #etcdDeath: Promise<void> = Promise.resolve();

  /** Begins at once. */
  constructor(plan: SoakPlan, url: string, etcd: EtcdServer | null, seed: number) {
    this.#plan = plan;
    this.#url = url;
    this.#etcd = etcd;
    this.#random = new SeededRandom(seed);
    for (let n = 0; n < plan.hosts; n++) this.#hosts.push(this.#startHost());
    const order: ClientOrder = { url, seed, promptSeed: plan.seed, watchersMax: plan.watchersMax };
    this.#client = new Child("client.process.ts", order);
    this.#timers.push(setInterval(() => this.#replaceHost(), plan.hostDeathSeconds * 1000));
    if (etcd === null) return;
    this.#timers.push(setInterval(() => this.#restartEtcd(etcd), plan.etcdDeathSeconds * 1000));
  }

  /** Ends all of it, half of the engines without a word; what was seen. */
  async end(): Promise<TallyReport> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#etcdDeath;
    if (this.#client.hasEnded) this.#tally.violated("client: its process ended by itself");
    await this.#client.end();
    await Promise.all(this.#hosts.map((host, n) => (n % 2 === 0 ? host.kill() : host.end())));
    const sum = emptyReport();
    for (const { report } of [this.#client, ...this.#hosts]) addReport(sum, report);
    for (const report of [this.#gone, this.#tally.report()]) addReport(sum, report);
    return sum;
  }

  #startHost(): Child {
    const order: EnginesOrder = {
      url: this.#url,
      etcdEndpoint: this.#etcd?.endpoint ?? null,
      seed: this.#random.nextUint32(),
      promptSeed: this.#plan.seed,
      engines: this.#plan.enginesPerHost,
    };
    return new Child("engines.process.ts", order);
  }

  async #replaceHost(): Promise<void> {
    const n = this.#random.integerBelow(this.#hosts.length);
    const host = this.#hosts[n];
    this.#hosts[n] = this.#startHost();
    if (host.hasEnded) this.#tally.violated("engines: a process ended by itself");
    this.#tally.happened("process of engines: killed");
    await host.kill();
    addReport(this.#gone, host.report);
  }

  #restartEtcd(etcd: EtcdServer): void {
    this.#etcdDeath = this.#etcdDeath.then(async () => {
      await etcd.kill();
      await Bun.sleep(ETCD_AWAY_MS);
      await etcd.restart();
      this.#tally.happened("etcd: killed and started again");
    });
  }
}
