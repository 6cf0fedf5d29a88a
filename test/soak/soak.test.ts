import { expect, test } from "bun:test";
import { buildKernel } from "../../scripts/build-kernel.ts";
import { comparisonTable, hasGrown } from "./comparison.ts";
import { LOOSE } from "./look.ts";
import { shortPlan } from "./plan.ts";
import { runSoak } from "./soak.ts";

const SEED = Number(Bun.env.WARMPATH_SOAK_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0]);

/** It takes half a minute; where the machine is busy the last instance is found gone later. */
const TIMEOUT_MS = 120_000;

test(
  "A service in unrest answers as documented, and takes no more than before once it has rest",
  async () => {
    console.log(`Soak with seed ${SEED}; again: WARMPATH_SOAK_SEED=${SEED} bun test soak`);
    await buildKernel();
    const lines: string[] = [];
    const { quantities, report, errorLines, exitCode } = await runSoak(shortPlan(SEED), LOOSE, (line) => lines.push(line));

    const grown = quantities.filter(hasGrown);
    if (grown.length > 0) console.log([...lines, comparisonTable(quantities)].join("\n"));
    expect(report.violations).toEqual([]);
    expect(errorLines).toEqual([]);
    expect(grown).toEqual([]);
    expect(exitCode).toBe(0);
    // It was no rest: engines died, prompts were asked for and placed, and wrong requests were refused.
    expect(report.events["engine: killed"]).toBeGreaterThan(0);
    expect(report.events["process of engines: killed"]).toBeGreaterThan(0);
    for (const answer of ["query binary 200", "route JSON 200", "route batch 200", "huge body 413", "wrong token 422"]) {
      expect(report.answers[answer]).toBeGreaterThan(0);
    }
  },
  TIMEOUT_MS,
);
