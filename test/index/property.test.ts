import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Comparison, Outcomes } from "./comparison.ts";
import { IndexScene } from "./scene.ts";
import { printSeed, TEST_SEED } from "./seed.ts";
import { batchPlans, FAMILIES } from "./sequences.ts";

printSeed("test/index/property.test.ts");

describe("KvIndex", () => {
  test.each(FAMILIES)(
    "KvIndex answers as the reference after every batch: $name",
    async (family) => {
      const scene = await IndexScene.create({ maxBlocksPerStream: family.blocksMax });
      const bytesEmpty = scene.writer.bytesInUse;
      const outcomes = new Outcomes();
      const property = fc.property(batchPlans(family), (plans) => {
        const comparison = new Comparison(scene, family, outcomes);
        try {
          for (const plan of plans) {
            comparison.perform(plan);
            comparison.compare();
          }
        } finally {
          comparison.close();
        }
        expect(scene.writer.bytesInUse).toBe(bytesEmpty);
      });
      fc.assert(property, { seed: TEST_SEED, numRuns: family.runs });
      expect(outcomes.commits).toBeGreaterThan(family.runs);
      expect(outcomes.incomplete).toBeGreaterThan(0);
      expect(outcomes.hitBlocks).toBeGreaterThan(family.runs);
      for (const reason of family.problems) expect(outcomes.problems).toContain(reason);
    },
    60_000,
  );
});
