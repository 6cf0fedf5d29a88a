/**
 * A process of restless engines. Its order comes as its argument; when the channel to its parent closes, its engines leave and it
 * ends; a report of what happened goes out with every beat, for the process may be killed at any time.
 */

import { Etcd3 } from "etcd3";
import { SeededRandom } from "#sim";
import { soakPrompts } from "./prompts.ts";
import { RestlessEngine } from "./restless-engine.ts";
import { Tally } from "./tally.ts";

export interface EnginesOrder {
  url: string;
  etcdEndpoint: string | null;
  seed: number;
  /** Of the prompts, the same for all processes. */
  promptSeed: number;
  engines: number;
}

const STEP_MS = 10;
const BEAT_MS = 400;
const SUFFER_MS = 150;
const LEAVE_TIMEOUT_MS = 2000;

const order = JSON.parse(process.argv[2] ?? "") as EnginesOrder;
const random = new SeededRandom(order.seed);
const tally = new Tally();
const etcd = order.etcdEndpoint === null ? null : new Etcd3({ hosts: order.etcdEndpoint });
const prompts = soakPrompts(order.promptSeed);
const engines = Array.from({ length: order.engines }, () => new RestlessEngine({ url: order.url, etcd, random, tally }));

setInterval(() => {
  for (const engine of engines) engine.serve();
  pick(engines).step(pick(prompts));
}, STEP_MS);
setInterval(() => pick(engines).suffer(), SUFFER_MS);
setInterval(() => {
  for (const engine of engines) engine.tell();
  process.send?.(tally.report());
}, BEAT_MS);
for (const engine of engines) engine.tell();

process.on("disconnect", async () => {
  setTimeout(() => process.exit(0), LEAVE_TIMEOUT_MS);
  await Promise.all(engines.map((engine) => engine.leave()));
  process.exit(0);
});

function pick<Item>(items: readonly Item[]): Item {
  return items[random.integerBelow(items.length)];
}
