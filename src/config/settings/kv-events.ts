/** The setting that names the KV events file; the file's fields are in `kv-events-file.ts`. */

import { Type } from "@sinclair/typebox";

export const KvEventsSettings = Type.Object(
  {
    kv_events_config_file: Type.String({
      default: "",
      allowed: "the path of a JSON file, or nothing",
      description: "KV events file, whose fields follow; empty: nothing is discovered or listed",
    }),
  },
  { title: "KV events" },
);
