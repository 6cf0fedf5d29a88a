/** How soon Warmpath knows of an engine that comes, and forgets one that is gone. */

import { locateEtcd } from "../support/etcd-server.ts";
import { ChangingFleet } from "./changing-fleet.ts";
import { Checksum } from "./checksum.ts";
import type { EngineProcess } from "./engine-process.ts";
import { medianFigure, quantile } from "./figures.ts";
import { type Answer, defineGroup, type Question } from "./question.ts";

interface Fixture {
  fleet: ChangingFleet;
  changes: number;
}

type Register = (fleet: ChangingFleet, engine: EngineProcess) => Promise<void>;

const etcdBinary = await locateEtcd();

export const fleetChange = defineGroup<Fixture>({
  open: async ({ fleetChanges: changes }) => {
    if (etcdBinary === null) console.error('Left out what needs etcd: no "etcd" is on the PATH');
    return { fleet: await ChangingFleet.start(etcdBinary), changes };
  },
  close: ({ fleet }) => fleet.stop(),
  questions,
});

function questions(): Question<Fixture>[] {
  const arrivals: [where: string, register: Register][] = [["over HTTP", (fleet, engine) => fleet.registerOverHttp(engine)]];
  if (etcdBinary !== null) arrivals.push(["in etcd", (fleet, engine) => fleet.registerInEtcd(engine)]);
  return [
    ...arrivals.map(([where, register]) => ({
      what: `from an instance's registration ${where} to its first synchronized answer`,
      measure: (fixture: Fixture) => measureArrivals(fixture, register),
    })),
    { what: "from SIGKILL of an engine to an answer without credit for it", measure: measureDeaths },
  ];
}

function measureArrivals(fixture: Fixture, register: Register): Promise<Answer> {
  return measureEngines(fixture, async (fleet, engine) => {
    const startMs = performance.now();
    await register(fleet, engine);
    const tokens = await fleet.credited(engine);
    const ms = performance.now() - startMs;
    await engine.kill();
    return { ms, tokens };
  });
}

function measureDeaths(fixture: Fixture): Promise<Answer> {
  return measureEngines(fixture, async (fleet, engine) => {
    await fleet.registerOverHttp(engine);
    const tokens = await fleet.credited(engine);
    const startMs = performance.now();
    const killed = engine.kill();
    await fleet.uncredited(engine);
    const ms = performance.now() - startMs;
    await killed;
    return { ms, tokens };
  });
}

/** Each time with an engine of its own, which `measure` ends. */
async function measureEngines(
  { fleet, changes }: Fixture,
  measure: (fleet: ChangingFleet, engine: EngineProcess) => Promise<{ ms: number; tokens: number }>,
): Promise<Answer> {
  const durations: number[] = [];
  const checksum = new Checksum();
  for (let n = 0; n < changes; n++) {
    const { ms, tokens } = await measure(fleet, await fleet.startEngine());
    durations.push(ms);
    checksum.add(tokens);
  }
  const p90 = { label: "p90", value: quantile(durations, 0.9), unit: "ms", target: null } as const;
  return { figures: [medianFigure(durations, "ms"), p90], checksum: checksum.toString() };
}
