import { beforeAll, describe, expect, test } from "bun:test";
import { createIndex, KvDirectory, KvIndexWriter } from "#index";
import { FAULTS } from "./faults.ts";
import type { RecoveryKind } from "./faulty-messages.ts";
import { ForgetfulIndex, hideGaps, hideHoles, RetentiveIndex, ShamelessIndex, SimpleIndex, TrustfulIndex } from "./mutations.ts";
import {
  BLOCKS_MAX,
  type Exercise,
  KINDS,
  kindOf,
  type Mutation,
  type SimulatedIndex,
  STREAMS_MAX,
  simulate,
} from "./simulation.ts";

/**
 * Seeds of the usual run count up from here, a third of them for each kind of recovery; one seed alone is run again by
 * WARMPATH_SIM_SEED.
 */
const FIRST_SEED = 1;
const SEEDS = Number(process.env.WARMPATH_SIM_SEEDS ?? 1560);
const ONLY_SEED = process.env.WARMPATH_SIM_SEED;

let index: SimulatedIndex;

beforeAll(async () => {
  const handle = await createIndex({ maxStreams: STREAMS_MAX, maxBlocksPerStream: BLOCKS_MAX });
  index = { directory: new KvDirectory(handle), writer: new KvIndexWriter(handle) };
});

const newExercise = (): Exercise => ({ synchronized: 0, unsynchronized: 0, partial: 0, faults: new Map() });

if (ONLY_SEED !== undefined) {
  test(`Streams keep their promises in the simulation of seed ${ONLY_SEED}`, () => {
    simulate(Number(ONLY_SEED), index, newExercise());
  });
}

/** Seeds whose streams recover in this way, in order. */
function seedsOf(kind: RecoveryKind, count: number): number[] {
  const seeds = Array.from({ length: count * KINDS.length }, (_, n) => FIRST_SEED + n);
  return seeds.filter((seed) => kindOf(seed) === kind);
}

describe.if(ONLY_SEED === undefined)("Many simulations", () => {
  const faults: Exercise["faults"] = new Map();
  const exercises = new Map(KINDS.map((kind) => [kind, { ...newExercise(), faults }]));

  test.each([...exercises])(
    "Streams keep their promises under every fault, and all are well again when the faults end, recovery: %s",
    (kind, exercise) => {
      for (const seed of seedsOf(kind, SEEDS / KINDS.length)) simulate(seed, index, exercise);
    },
    { timeout: 600_000 },
  );

  test("The simulations make every fault happen often", () => {
    for (const fault of FAULTS) expect([fault, (faults.get(fault) ?? 0) >= 100]).toEqual([fault, true]);
  });

  test.each([...exercises])(
    "The simulations check streams mostly while these are synchronized, and often while they are not, recovery: %s",
    (_kind, { synchronized, unsynchronized }) => {
      expect(synchronized).toBeGreaterThan(unsynchronized);
      expect(unsynchronized).toBeGreaterThan(synchronized / 10);
    },
  );

  test("The simulations often check what is known in part where a stream cannot know everything, and never elsewhere", () => {
    const answers = [...exercises].map(([kind, { partial }]) => [kind, partial > 1000]);
    expect(Object.fromEntries(answers)).toEqual({ snapshot: false, replay: true, none: true });
    expect(exercises.get("snapshot")?.partial).toBe(0);
  });

  const MUTATIONS: [what: string, kind: RecoveryKind, mutation: Mutation][] = [
    ["does not see gaps", "snapshot", { wrapSockets: hideGaps }],
    ["does not see gaps", "replay", { wrapSockets: hideGaps }],
    ["does not see gaps", "none", { wrapSockets: hideGaps }],
    ["does not see holes in an answer", "replay", { wrapSockets: hideHoles }],
    ["forgets the batches held during a recovery", "snapshot", { streamIndex: ForgetfulIndex }],
    ["forgets the batches held during a recovery", "replay", { streamIndex: ForgetfulIndex }],
    ["goes on answering while it is not synchronized", "snapshot", { streamIndex: ShamelessIndex }],
    ["takes another process for the one it knows", "replay", { streamIndex: TrustfulIndex }],
    ["keeps what it should forget", "replay", { streamIndex: RetentiveIndex }],
    ["keeps what it should forget", "none", { streamIndex: RetentiveIndex }],
    ["takes copies for presence", "replay", { streamIndex: SimpleIndex }],
    ["takes copies for presence", "none", { streamIndex: SimpleIndex }],
  ];

  test.each(MUTATIONS)("The simulations notice a stream that %s, recovery: %s", (_what, kind, mutation) => {
    const run = () => {
      for (const seed of seedsOf(kind, 50)) simulate(seed, index, newExercise(), mutation);
    };
    expect(run).toThrow(/again: WARMPATH_SIM_SEED=\d+ bun test test\/sim\//);
  });
});
