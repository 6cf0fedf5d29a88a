/** The names that engines and their connectors give to media, in any case, and the tiers they are. */

import type { Tier } from "#domain";
import { NameTable } from "../msgpack/name-table.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";

/** `elsewhere`: a store that many engines share, no tier of this one. `unknown`: a name that is none of these. */
export type Medium = Tier | "elsewhere" | "unknown";

const MEDIA = {
  gpu: "device",
  hbm: "device",
  cpu: "host",
  disk: "disk",
  storage: "disk",
  fs: "disk",
  obj: "disk",
  shared_storage: "disk",
  external: "elsewhere",
  remote: "elsewhere",
} as const satisfies Record<string, Medium>;
const NAMES = Object.keys(MEDIA) as (keyof typeof MEDIA)[];
const NAME_TABLE = new NameTable(NAMES, "ignore-case");

/** CPU_PINNED, CPU_TIER1 and the like; a cache connector in host memory names the device that it serves, as `cuda:0`. */
const HOST_PREFIXES = ["cpu", "cuda"] as const;
const HOST_PREFIX_TABLE = new NameTable(HOST_PREFIXES, "ignore-case");

/** Passes one value: its medium, where empty text is the device; null when it is no text. */
export function readMedium(reader: MessagePackReader): Medium | null {
  if (!reader.readText()) {
    reader.skip();
    return null;
  }
  const { bytes, rawStart, rawEnd } = reader;
  if (rawStart === rawEnd) return "device";
  const position = NAME_TABLE.find(bytes, rawStart, rawEnd);
  if (position >= 0) return MEDIA[NAMES[position]];
  const isHost = HOST_PREFIXES.some(
    ({ length }) => rawStart + length <= rawEnd && HOST_PREFIX_TABLE.find(bytes, rawStart, rawStart + length) >= 0,
  );
  return isHost ? "host" : "unknown";
}
