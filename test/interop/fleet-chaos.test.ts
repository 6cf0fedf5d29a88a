/** Engines of a fleet die and come back all the time; what Warmpath says about them is right at every moment. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SeededRandom } from "#sim";
import { findEtcd } from "../support/etcd-server.ts";
import { CLEARED, stored } from "./cache-event.ts";
import type { FleetMember } from "./fleet/fleet-member.ts";
import { FleetSite, type MemberPlan } from "./fleet/fleet-site.ts";
import { RandomLife } from "./fleet/random-life.ts";
import { TRAFFIC_PROMPTS } from "./random-changes.ts";
import { python } from "./suite.ts";

const PLAN: readonly MemberPlan[] = [
  { engine: "xllm", ranks: 2 },
  { engine: "xllm", ranks: 1 },
  { engine: "xllm", ranks: 1 },
  { engine: "xllm", ranks: 1 },
  { engine: "vllm", ranks: 1 },
  { engine: "vllm", ranks: 1 },
  { engine: "sglang", ranks: 1 },
  { engine: "sglang", ranks: 1 },
];

const seed = Number(Bun.env.WARMPATH_FLEET_SEED ?? Math.floor(Math.random() * 2 ** 31));
const seconds = Number(Bun.env.WARMPATH_FLEET_SECONDS ?? (Bun.env.CI === "true" ? 60 : 15));

const OUTAGE_MS = 1000;
const BETWEEN_OUTAGES_MIN_MS = 3000;
const BETWEEN_OUTAGES_MAX_MS = 12_000;

/** The longest backoff between two recoveries and the recovery itself. */
const CATCH_UP_TIMEOUT_MS = 35_000;

const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = seconds * 1000 + 90_000;

/** Of the processes' ranks, far fewer than there are; with none the observer would have judged nothing. */
const CREDITED_SHARE_MIN = 1 / 4;

const etcd = python === null ? null : await findEtcd();

async function interruptEtcd(site: FleetSite, untilMs: number): Promise<void> {
  const random = new SeededRandom(seed + PLAN.length);
  for (;;) {
    await Bun.sleep(random.integerBetween(BETWEEN_OUTAGES_MIN_MS, BETWEEN_OUTAGES_MAX_MS));
    if (performance.now() >= untilMs) return;
    await site.etcdOutage(OUTAGE_MS);
  }
}

/** Registered as the process that it is, every rank is synchronized and equals its process. */
async function expectEnd(site: FleetSite, member: FleetMember): Promise<void> {
  await member.register("the same", "DEFAULT");
  for (const [rank, peer] of member.peers.entries()) {
    const stream = site.watch(member, rank);
    await peer.publish([CLEARED]);
    await stream.hearsLast(CATCH_UP_TIMEOUT_MS);
    await peer.publish([CLEARED, stored(TRAFFIC_PROMPTS[0]), stored(TRAFFIC_PROMPTS[8], "host")]);
    await stream.catchesUp({ timeoutMs: CATCH_UP_TIMEOUT_MS });
    const { cache } = peer;
    const modelled = { device: cache.hashesOn("device"), host: cache.hashesOn("host"), disk: cache.hashesOn("disk") };
    expect(await peer.heldHashes()).toEqual(modelled);
  }
}

/** That there was something to judge. */
function expectCredit({ members, answers }: FleetSite): void {
  const histories = members.flatMap((member) => member.histories);
  const processes = histories.reduce((sum, history) => sum + history.processes, 0);
  const credited = histories.reduce((sum, history) => sum + history.creditedProcesses, 0);
  const afterlifeMs = Math.max(...histories.map((history) => history.longestAfterlifeMs));
  console.info(
    `${answers} answers about ${processes} processes, ${credited} of which had credit, none later than ${afterlifeMs.toFixed(0)} ms after its end`,
  );
  expect(credited).toBeGreaterThan(processes * CREDITED_SHARE_MIN);
}

describe.skipIf(etcd === null)("A fleet whose engines are killed and come back", () => {
  let site: FleetSite;

  beforeAll(async () => {
    site = await FleetSite.start(python as string, etcd as string, PLAN);
  }, START_TIMEOUT_MS);
  afterAll(() => site.stop());

  test(
    "Warmpath credits no instance with anything that its process does not hold, and follows all of them to the end",
    async () => {
      console.info(`A fleet of ${PLAN.length} with WARMPATH_FLEET_SEED=${seed} WARMPATH_FLEET_SECONDS=${seconds}`);
      try {
        const untilMs = performance.now() + seconds * 1000;
        const lives = site.members.map((member, n) => new RandomLife(member, seed + n).run(untilMs));
        await Promise.all([...lives, interruptEtcd(site, untilMs)]);
        expect(site.violations).toEqual([]);
        await Promise.all(site.members.map((member) => expectEnd(site, member)));
        expect(site.violations).toEqual([]);
        expectCredit(site);
      } catch (error) {
        console.error(site.report());
        throw error;
      }
    },
    TEST_TIMEOUT_MS,
  );
});
