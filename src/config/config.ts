/** The configuration as the house sees it: checked whole, complete with defaults, in camelCase. It never changes. */

import type { StreamDescription } from "#domain";
import type { CamelCased } from "./camel-case.ts";
import type { KvEventsFile } from "./kv-events-file.ts";
import type { Settings } from "./settings.ts";

/** Every setting; meaning and range of each stand in `settings.ts`. */
export interface Config extends CamelCased<Settings> {
  kvEvents: KvEventsConfig;
}

type FileFields = CamelCased<KvEventsFile>;

/** Every field of the KV events file, with its defaults also when there is no file; see `kv-events-file.ts`. */
export interface KvEventsConfig extends Omit<FileFields, "discovery" | "streams"> {
  /** Null without a `discovery` object; otherwise `streams` is empty. */
  discovery: NonNullable<FileFields["discovery"]> | null;
  streams: StreamDescription[];
}
