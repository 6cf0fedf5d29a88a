/**
 * The settings of the command line and the environment. This schema is their only source: flags, variables, checks, `--help`
 * and the README's tables follow from it. Names are snake_case, as xLLM service spells them.
 *
 * Beside JSON Schema's keywords, `allowed` words the permitted values where the keywords alone say too little, and
 * `writeOnly` marks a secret, which no message repeats.
 */

import { type Static, Type } from "@sinclair/typebox";
import { FleetSettings } from "./settings/fleet.ts";
import { KvEventsSettings } from "./settings/kv-events.ts";
import { RoutingSettings } from "./settings/routing.ts";
import { ServiceSettings } from "./settings/service.ts";

/** The settings by purpose, each group with its `title`, in the order in which they are shown. */
export const SETTINGS_GROUPS = [ServiceSettings, RoutingSettings, FleetSettings, KvEventsSettings] as const;

/** All of them as one; no two groups share a name. */
export const Settings = Type.Object({
  ...ServiceSettings.properties,
  ...RoutingSettings.properties,
  ...FleetSettings.properties,
  ...KvEventsSettings.properties,
});

export type Settings = Static<typeof Settings>;

/** `http_server_port` → `--http-server-port`. */
export function flagName(setting: string): string {
  return `--${setting.replaceAll("_", "-")}`;
}

/** `http_server_port` → `WARMPATH_HTTP_SERVER_PORT`. */
export function environmentName(setting: string): string {
  return `WARMPATH_${setting.toUpperCase()}`;
}
