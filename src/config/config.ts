/** The configuration as the house sees it: checked whole, complete with defaults, in camelCase. It never changes. */

import type { StreamDescription } from "#domain";
import type { CamelCased } from "./camel-case.ts";
import type { EtcdCredentials } from "./etcd-credentials.ts";
import type { KvEventsFile } from "./kv-events-file.ts";
import type { Settings } from "./settings.ts";
import type { TlsIdentity } from "./tls.ts";

/** Every setting; meaning and range of each stand in `settings/`. */
export interface Config extends Omit<CamelCased<Settings>, "etcdAddr" | "tlsCert" | "tlsKey" | "curveSecretKeyFile"> {
  /** From `etcd_addr`: `http://host:port` or `https://host:port`; empty without etcd. */
  etcdAddresses: string[];
  /** The prefix of every key: "" or `/a/`. */
  etcdNamespace: string;
  /** Null where none are given, and without etcd. */
  etcdCredentials: EtcdCredentials | null;
  /** Null: HTTP is served in the clear. */
  tls: TlsIdentity | null;
  /** Warmpath's own CURVE key, Z85; null: a fresh one for each process. */
  curveSecretKey: string | null;
  kvEvents: KvEventsConfig;
}

type FileFields = CamelCased<KvEventsFile>;

/** Every field of the KV events file, with its defaults also when there is no file; see `kv-events-file.ts`. */
export interface KvEventsConfig extends Omit<FileFields, "discovery" | "streams"> {
  /** Not enabled where the file has none; otherwise `streams` is empty. */
  discovery: NonNullable<FileFields["discovery"]>;
  streams: StreamDescription[];
}
