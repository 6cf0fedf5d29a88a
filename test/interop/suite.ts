/**
 * How interop tests are declared: scenarios that run side by side against one Warmpath, each with peers of its own. Without a
 * Python that can play an engine they are skipped, which in CI is a failure.
 */

import { afterAll, beforeAll, describe, test } from "bun:test";
import { BRANCH, LEFT, RIGHT } from "./blocks.ts";
import type { ObservedStream } from "./observed-stream.ts";
import type { PeerEngine, PeerOptions } from "./peer-engine.ts";
import { findPython } from "./python.ts";
import { InteropSite, type PlannedStream, type SiteOptions } from "./site.ts";

const START_TIMEOUT_MS = 60_000;
/** A scenario waits ten seconds at most for each thing that it must see. */
const SCENARIO_TIMEOUT_MS = 90_000;

/** A Python that can play an engine; null where the tests that need one are skipped. */
export const python = await requirePython();

interface ScenarioOptions {
  /** One peer for each; default one with default options. */
  peers?: readonly PeerOptions[];
  /** What each peer does before Warmpath starts. */
  prepare?: (peer: PeerEngine) => Promise<void>;
}

/** Declares one scenario: a sentence, and what is done to its streams, in the order of their peers. */
export type DeclareScenario = (
  sentence: string,
  body: (...streams: ObservedStream[]) => Promise<void>,
  options?: ScenarioOptions,
) => void;

/** Declares scenarios that share one Warmpath. Each of them fails when the observer finds a wrong answer on its streams. */
export function describeInterop(
  name: string,
  declare: (scenario: DeclareScenario) => void,
  { fields = {}, prompts = [LEFT, RIGHT, BRANCH] }: Partial<SiteOptions> = {},
): void {
  describe.skipIf(python === null)(name, () => {
    const site = new InteropSite({ fields, prompts });
    const plan: PlannedStream[] = [];

    declare((sentence, body, { peers = [{}], prepare } = {}) => {
      const instanceName = `instance-${plan.length}`;
      plan.push(...peers.map((peer) => ({ instanceName, peer, prepare })));
      const run = async () => {
        const streams = peers.map(({ rank = 0 }) => site.stream(instanceName, rank));
        try {
          await body(...streams);
          for (const stream of streams) stream.expectNoViolation();
        } catch (error) {
          console.error(site.logOf(instanceName));
          throw error;
        }
      };
      test.concurrent(sentence, run, SCENARIO_TIMEOUT_MS);
    });

    beforeAll(() => site.start(python as string, plan), START_TIMEOUT_MS);
    afterAll(() => site.stop());
  });
}

async function requirePython(): Promise<string | null> {
  if (Bun.env.WARMPATH_SKIP_INTEROP === "1") return skip("WARMPATH_SKIP_INTEROP is 1");
  const found = await findPython();
  if (found !== null) return found;
  const reason = "no python3 with pyzmq and msgpack was found, and none could be made";
  if (Bun.env.CI === "true") throw new Error(`Cannot run the interop tests: ${reason}, WARMPATH_SKIP_INTEROP=1 skips them`);
  return skip(reason);
}

function skip(reason: string): null {
  console.warn(`Interop tests are skipped: ${reason}`);
  return null;
}
