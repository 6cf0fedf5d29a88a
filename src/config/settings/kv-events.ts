/** Settings that name files of the KV events: what to listen to, whose fields are in `kv-events-file.ts`, and with which key. */

import { Type } from "@sinclair/typebox";

export const KvEventsSettings = Type.Object(
  {
    kv_events_config_file: Type.String({
      default: "",
      allowed: "the path of a JSON file, or nothing",
      description: "KV events file, whose fields follow; empty: nothing is discovered or listed",
    }),
    curve_secret_key_file: Type.String({
      default: "",
      allowed: "the path of a file with a secret CURVE key in Z85, or nothing",
      description: "Warmpath's own key for streams with a curve_server_key; empty: a fresh one for each process",
    }),
  },
  { title: "KV events" },
);
