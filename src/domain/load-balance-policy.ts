/** How an instance is chosen for a request: by cache and load, in turn, or by latency targets. */

export const LOAD_BALANCE_POLICIES = ["CAR", "RR", "SLO_AWARE"] as const;

export type LoadBalancePolicy = (typeof LOAD_BALANCE_POLICIES)[number];
