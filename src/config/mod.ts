/**
 * Configuration: two schemas (`settings.ts` for command line and environment, composed of the groups in `settings/`, and
 * `kv-events-file.ts` for the JSON file) from which flags, variables, checks, `--help` and the README's tables come.
 * Everything is checked once at start and all that is wrong is reported together; what passed is trusted from then on.
 */

export type { Config, KvEventsConfig } from "./config.ts";
export { ConfigError } from "./errors.ts";
export { helpText } from "./help.ts";
export { loadConfig } from "./load.ts";
export { nearestNames } from "./nearest-names.ts";
export { settingsTable } from "./settings-table.ts";
export type { TlsIdentity } from "./tls.ts";
