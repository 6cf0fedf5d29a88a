import type { Pod } from "../../../src/fleet/kubernetes/api-objects.ts";

export interface PodTraits {
  name?: string;
  uid?: string;
  podIP?: string;
  phase?: string;
  isReady?: boolean;
  isDeleted?: boolean;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  /** Of one container each. */
  containers?: { name?: string; containerPort: number; protocol?: string }[][];
}

/** A ready pod `llm/a` at 10.0.0.5 without annotations or ports, but for what is said otherwise. */
export function podWith(traits: PodTraits = {}): Pod {
  const { name = "a", uid = `uid-${name}`, podIP = "10.0.0.5", phase = "Running", isReady = true } = traits;
  return {
    metadata: {
      name,
      namespace: "llm",
      uid,
      resourceVersion: "1",
      labels: traits.labels ?? {},
      ...(traits.annotations === undefined ? {} : { annotations: traits.annotations }),
      ...(traits.isDeleted === true ? { deletionTimestamp: "2026-03-02T10:02:40Z" } : {}),
    } as Pod["metadata"],
    spec: { containers: (traits.containers ?? [[]]).map((ports) => ({ ports })) },
    status: {
      phase,
      ...(podIP === "" ? {} : { podIP }),
      conditions: [
        { type: "Initialized", status: "True" },
        { type: "Ready", status: isReady ? "True" : "False" },
      ],
    },
  };
}
