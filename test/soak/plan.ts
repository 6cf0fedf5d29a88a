/** How long a soak lasts and how much goes on in it. */

const SOAK_POLICIES = ["CAR", "SLO_AWARE", "RR"] as const;

export type SoakPolicy = (typeof SOAK_POLICIES)[number];

export interface SoakPlan {
  seed: number;
  /** Seconds of everything at once before the first look, so that what is taken once is taken. */
  warmUpSeconds: number;
  /** Seconds of everything at once between the two looks that are compared. */
  churnSeconds: number;
  /** Seconds without anything before either look, after the last instance is gone. */
  restSeconds: number;
  sampleSeconds: number;
  /** Processes of engines, and engines in each. */
  hosts: number;
  enginesPerHost: number;
  /** Seconds between two deaths of such a process, and between two of etcd. */
  hostDeathSeconds: number;
  etcdDeathSeconds: number;
  /** Pages that watch the live feed at a time at most; the service takes 32. */
  watchersMax: number;
  policy: SoakPolicy;
  /** A single executable to soak; null: the sources. */
  executable: string | null;
}

type FreeChoice = Pick<SoakPlan, "seed" | "policy" | "executable">;

/** The whole thing: `bun run soak`. */
export function fullPlan(minutes: number, choice: FreeChoice): SoakPlan {
  return {
    ...choice,
    warmUpSeconds: 60,
    churnSeconds: minutes * 60,
    restSeconds: 20,
    sampleSeconds: 5,
    hosts: 4,
    enginesPerHost: 6,
    hostDeathSeconds: 4,
    etcdDeathSeconds: 25,
    watchersMax: 36,
  };
}

/** The same in less than half a minute, for the tests. */
export function shortPlan(seed: number): SoakPlan {
  return {
    ...fullPlan(0, { seed, policy: "CAR", executable: null }),
    warmUpSeconds: 4,
    churnSeconds: 6,
    restSeconds: 1,
    sampleSeconds: 2,
    hosts: 2,
    enginesPerHost: 5,
    hostDeathSeconds: 1.5,
    etcdDeathSeconds: 2.5,
  };
}

export function isSoakPolicy(text: string): text is SoakPolicy {
  return SOAK_POLICIES.includes(text as SoakPolicy);
}
