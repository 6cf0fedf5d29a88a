/** Settings of how instances are found, when they are given up, and how fresh their load must be. */

import { FormatRegistry, Type } from "@sinclair/typebox";
import { parseEtcdAddresses } from "../etcd.ts";

const ETCD_ADDRESSES_FORMAT = "warmpath-etcd-addresses";

FormatRegistry.Set(ETCD_ADDRESSES_FORMAT, (text) => parseEtcdAddresses(text) !== null);

/** A newline at the end, as files often have it, would name other keys or labels without anyone seeing why. */
const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

export const FleetSettings = Type.Object(
  {
    etcd_addr: Type.String({
      default: "",
      format: ETCD_ADDRESSES_FORMAT,
      allowed:
        "host:port or http(s)://host:port with a port from 1 to 65535, several with commas between (all https or none), or nothing",
      description: "etcd where the fleet registers; empty: no etcd. ETCD_USERNAME and ETCD_PASSWORD log in, both or neither",
    }),
    etcd_namespace: Type.String({
      default: "",
      pattern: NO_CONTROL_CHARACTERS,
      allowed: 'text without control characters; "a" and "/a/" both mean the key prefix "/a/"',
      description: "Prefix of the fleet's keys in etcd",
    }),
    kubernetes_label_selector: Type.String({
      default: "",
      // The API server judges the rest.
      pattern: NO_CONTROL_CHARACTERS,
      allowed: "a label selector without control characters, or nothing",
      description: "Pods with these labels are instances, as in app=vllm,tier!=test; empty: Kubernetes is not asked",
    }),
    kubernetes_namespace: Type.String({
      default: "",
      pattern: "^$|^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
      allowed: "the name of a Kubernetes namespace, or nothing",
      description: "Where the pods are; empty: Warmpath's own namespace, or that of the kubeconfig's context",
    }),
    instance_delete_probe_timeout_ms: Type.Integer({
      default: 1000,
      minimum: 1,
      maximum: 60_000,
      description: "Time for one answer of /health when an instance's lease is gone",
    }),
    instance_delete_probe_attempts: Type.Integer({
      default: 2,
      minimum: 1,
      maximum: 100,
      description: "Tries of /health before an instance without lease is SUSPECT",
    }),
    lease_lost_heartbeat_timeout_ms: Type.Integer({
      default: 3000,
      minimum: 1,
      maximum: 3_600_000,
      description: "An instance without lease is SUSPECT after this time without a heartbeat",
    }),
    suspect_timeout_ms: Type.Integer({
      default: 15_000,
      minimum: 1,
      maximum: 3_600_000,
      description: "Time in SUSPECT before an instance is deregistered",
    }),
    // Three heartbeats of vLLM's sidecar, which has the longest interval of all who report, and a second for the way.
    load_report_max_age_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      maximum: 3_600_000,
      description: "Load reports older than this do not count",
    }),
    load_scrape_interval_ms: Type.Integer({
      default: 1000,
      minimum: 0,
      maximum: 3_600_000,
      description: "Time between two looks at the /metrics of vLLM and SGLang instances that send no heartbeats; 0: never",
    }),
  },
  { title: "Fleet" },
);
