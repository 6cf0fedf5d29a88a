/** Loads the configuration: the one place of this room that reads a file. */

import { readFile } from "node:fs/promises";
import { assert } from "#base";
import { camelCased } from "./camel-case.ts";
import type { Config, KvEventsConfig } from "./config.ts";
import { ConfigError } from "./errors.ts";
import { etcdKeyPrefix, parseEtcdAddresses } from "./etcd.ts";
import { type EtcdCredentials, etcdCredentials } from "./etcd-credentials.ts";
import { parseFlags } from "./flags.ts";
import { type ParsedKvEvents, parseKvEvents } from "./parse-kv-events.ts";
import type { Settings } from "./settings.ts";
import { settingsRuleProblems } from "./settings-rules.ts";
import { type Environment, settleSettings } from "./settle-settings.ts";

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
  const file = path === "" ? parseKvEvents("{}") : await readKvEvents(path);

  const problems = [
    ...flags.problems,
    ...settled.problems,
    ...settingsRuleProblems(settled),
    ...login.problems,
    ...(file.problems ?? []),
  ];
  if (file.kvEvents === null || problems.length > 0) throw new ConfigError(problems);
  return toConfig(settled.settings as Settings, login.credentials, file.kvEvents);
}

function toConfig(settings: Settings, etcdCredentials: EtcdCredentials | null, kvEvents: KvEventsConfig): Config {
  const { etcdAddr, etcdNamespace, ...same } = camelCased(settings);
  const etcdAddresses = parseEtcdAddresses(etcdAddr);
  assert(etcdAddresses !== null, "etcd_addr was checked by its schema");
  return { ...same, etcdAddresses, etcdNamespace: etcdKeyPrefix(etcdNamespace), etcdCredentials, kvEvents };
}

async function readKvEvents(path: string): Promise<ParsedKvEvents> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    const found = `${JSON.stringify(path)} (${(error as Error).message})`;
    return {
      kvEvents: null,
      problems: [{ setting: "kv_events_config_file", found, needed: "the path of a readable UTF-8 file" }],
    };
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
