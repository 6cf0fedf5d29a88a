/**
 * The settings of the command line and the environment. This schema is their only source: flags, variables, checks, `--help`
 * and the README's table follow from it. Names are snake_case, as xLLM service spells them.
 *
 * Beside JSON Schema's keywords, `allowed` words the permitted values where the keywords alone say too little, and
 * `writeOnly` marks a secret, which no message repeats.
 */

import { type Static, Type } from "@sinclair/typebox";

export const Settings = Type.Object({
  host: Type.String({ default: "127.0.0.1", minLength: 1, description: "Address to listen on" }),
  http_server_port: Type.Integer({
    default: 8888,
    minimum: 0,
    maximum: 65535,
    description: "Port to listen on; 0 takes any free port",
  }),
  internal_api_token: Type.String({
    default: "",
    // What a header can carry unchanged: a token that ends in a newline, as files often do, would lock everyone out.
    pattern: "^[!-~]*$",
    allowed: "printable ASCII characters without spaces",
    writeOnly: true,
    description: "When set, /v1/internal/* and everything that changes state require the header X-Internal-Token with this value",
  }),
  kv_events_config_file: Type.String({
    default: "",
    allowed: "the path of a JSON file, or nothing",
    description: "KV events file, whose fields follow; empty: nothing is discovered or listed",
  }),
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
