import { beforeAll, describe, expect, test } from "bun:test";
import { createIndex, KvDirectory, KvIndexWriter } from "#index";
import { FAULTS } from "./faults.ts";
import { ForgetfulIndex, hideGaps, ShamelessIndex } from "./mutations.ts";
import { BLOCKS_MAX, type Exercise, type Mutation, type SimulatedIndex, STREAMS_MAX, simulate } from "./simulation.ts";

/** Seeds of the usual run count up from here; one seed alone is run again by WARMPATH_SIM_SEED. */
const FIRST_SEED = 1;
const SEEDS = Number(process.env.WARMPATH_SIM_SEEDS ?? 600);
const ONLY_SEED = process.env.WARMPATH_SIM_SEED;

let index: SimulatedIndex;

beforeAll(async () => {
  const handle = await createIndex({ maxStreams: STREAMS_MAX, maxBlocksPerStream: BLOCKS_MAX });
  index = { directory: new KvDirectory(handle), writer: new KvIndexWriter(handle) };
});

const newExercise = (): Exercise => ({ synchronized: 0, unsynchronized: 0, faults: new Map() });

if (ONLY_SEED !== undefined) {
  test(`Streams keep their promises in the simulation of seed ${ONLY_SEED}`, () => {
    simulate(Number(ONLY_SEED), index, newExercise());
  });
}

describe.if(ONLY_SEED === undefined)("Many simulations", () => {
  const exercise = newExercise();

  test(
    "Streams keep their promises under every fault, and all are well again when the faults end",
    () => {
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) simulate(seed, index, exercise);
    },
    { timeout: 600_000 },
  );

  test("The simulations make every fault happen often", () => {
    for (const fault of FAULTS) expect([fault, (exercise.faults.get(fault) ?? 0) >= 100]).toEqual([fault, true]);
  });

  test("The simulations check streams mostly while these are synchronized, and often while they are not", () => {
    const { synchronized, unsynchronized } = exercise;
    expect(synchronized).toBeGreaterThan(unsynchronized);
    expect(unsynchronized).toBeGreaterThan(synchronized / 10);
  });

  const MUTATIONS: [what: string, mutation: Mutation][] = [
    ["does not see gaps", { wrapSockets: hideGaps }],
    ["forgets the batches held during a recovery", { streamIndex: ForgetfulIndex }],
    ["goes on answering while it is not synchronized", { streamIndex: ShamelessIndex }],
  ];

  test.each(MUTATIONS)("The simulations notice a stream that %s", (_what, mutation) => {
    const run = () => {
      for (let seed = FIRST_SEED; seed < FIRST_SEED + 50; seed++) simulate(seed, index, newExercise(), mutation);
    };
    expect(run).toThrow(/again: WARMPATH_SIM_SEED=\d+ bun test test\/sim\//);
  });
});
