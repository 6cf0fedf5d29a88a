/** Loads the configuration: flags, environment, and every file that they name. */

import { assert } from "#base";
import { camelCased } from "./camel-case.ts";
import type { Config } from "./config.ts";
import { readCurveSecretKey } from "./curve-secret-key.ts";
import { ConfigError } from "./errors.ts";
import { etcdKeyPrefix, parseEtcdAddresses } from "./etcd.ts";
import { etcdCredentials } from "./etcd-credentials.ts";
import { parseFlags } from "./flags.ts";
import { type ParsedKvEvents, parseKvEvents } from "./parse-kv-events.ts";
import type { Settings } from "./settings.ts";
import { settingsRuleProblems } from "./settings-rules.ts";
import { type Environment, settleSettings } from "./settle-settings.ts";
import { readTextFile } from "./text-file.ts";
import { readTls } from "./tls.ts";

/**
 * The configuration that `args` (without the program's name) and `environment` describe, or "help" when that is asked for.
 * Throws `ConfigError` with every wrong setting of flags, environment and file.
 */
export async function loadConfig(args: readonly string[], environment: Environment): Promise<Config | "help"> {
  const flags = parseFlags(args);
  if (flags === "help") return "help";

  const settled = settleSettings(flags.given, environment);
  const { etcd_addr, kv_events_config_file: path = "" } = settled.settings;
  const login = etcdCredentials(etcd_addr === "" ? {} : environment);
  const { tls, problems: tlsProblems } = await readTls(settled);
  const { curveSecretKey, problems: keyProblems } = await readCurveSecretKey(settled);
  const file = path === "" ? parseKvEvents("{}") : await readKvEvents(path);

  const problems = [
    ...flags.problems,
    ...settled.problems,
    ...settingsRuleProblems(settled),
    ...login.problems,
    ...tlsProblems,
    ...keyProblems,
    ...(file.problems ?? []),
  ];
  if (file.kvEvents === null || problems.length > 0) throw new ConfigError(problems);
  const { kvEvents } = file;
  return toConfig(settled.settings as Settings, { etcdCredentials: login.credentials, tls, curveSecretKey, kvEvents });
}

type FromElsewhere = Pick<Config, "etcdCredentials" | "tls" | "curveSecretKey" | "kvEvents">;

function toConfig(settings: Settings, fromElsewhere: FromElsewhere): Config {
  const { etcdAddr, etcdNamespace, tlsCert, tlsKey, curveSecretKeyFile, ...same } = camelCased(settings);
  const etcdAddresses = parseEtcdAddresses(etcdAddr);
  assert(etcdAddresses !== null, "etcd_addr was checked by its schema");
  return { ...same, ...fromElsewhere, etcdAddresses, etcdNamespace: etcdKeyPrefix(etcdNamespace) };
}

async function readKvEvents(path: string): Promise<ParsedKvEvents> {
  const { text, found } = await readTextFile(path);
  if (found !== null) {
    const needed = "the path of a readable UTF-8 file";
    return { kvEvents: null, problems: [{ setting: "kv_events_config_file", found, needed }] };
  }

  const parsed = parseKvEvents(text);
  if (parsed.problems === null) return parsed;
  const fileName = JSON.stringify(path);
  const problems = parsed.problems.map(({ setting, ...rest }) => ({
    ...rest,
    setting: setting === "" ? fileName : `${setting} in ${fileName}`,
  }));
  return { kvEvents: null, problems };
}
