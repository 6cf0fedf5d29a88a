/**
 * The registry that xLLM's engines and sidecars write to: etcd keys with leases, listed and watched, told to the fleet. What a key
 * and its value mean is decided by pure functions; only the connection and the source do I/O.
 */

export { EtcdSource, type EtcdSourceOptions } from "./etcd-source.ts";
