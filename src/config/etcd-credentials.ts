/** The credentials for etcd, which only the environment gives: on a command line everyone on the machine could read them. */

import type { Problem } from "./errors.ts";
import type { Environment } from "./settle-settings.ts";

export interface EtcdCredentials {
  username: string;
  password: string;
}

/** Null where neither variable is set; one without the other is a problem. A variable that is empty counts as not set. */
export function etcdCredentials(environment: Environment): { credentials: EtcdCredentials | null; problems: Problem[] } {
  const { ETCD_USERNAME: username = "", ETCD_PASSWORD: password = "" } = environment;
  if (username !== "" && password !== "") return { credentials: { username, password }, problems: [] };
  if (username === "" && password === "") return { credentials: null, problems: [] };
  const [missing, present] = username === "" ? ["ETCD_USERNAME", "ETCD_PASSWORD"] : ["ETCD_PASSWORD", "ETCD_USERNAME"];
  const needed = `a value, since ${present} has one: both or neither`;
  return { credentials: null, problems: [{ setting: missing, found: "nothing", needed }] };
}
