/** What goes wrong between Warmpath and etcd, in words for the person on call. */

import type { KeyRange } from "./keys.ts";

/** etcd ended a watch by itself. */
export class WatchEndedError extends Error {
  constructor(reason: string) {
    super(`Cannot go on with the watch: ${reason}`);
  }
}

export interface Trouble {
  kind: "unreachable" | "credentials" | "permission";
  sentence: string;
}

/** What stands between Warmpath and etcd. It never holds the password. */
export function troubleOf(error: unknown, username: string | null, { start, end }: KeyRange): Trouble {
  const message = error instanceof Error ? error.message : String(error);
  const user = JSON.stringify(username);
  if (message.includes("authentication failed")) {
    const sentence = `etcd refuses user ${user}: check that it exists and that ETCD_USERNAME and ETCD_PASSWORD are right`;
    return { kind: "credentials", sentence };
  }
  if (message.includes("user name is empty")) {
    return { kind: "credentials", sentence: "etcd asks for a user: set ETCD_USERNAME and ETCD_PASSWORD" };
  }
  if (message.includes("permission denied")) {
    const range = `${JSON.stringify(start.toString())} to ${JSON.stringify(end.toString())}`;
    return {
      kind: "permission",
      sentence: `user ${user} may not read the keys from ${range}: grant its role read on that range`,
    };
  }
  return { kind: "unreachable", sentence: message };
}
