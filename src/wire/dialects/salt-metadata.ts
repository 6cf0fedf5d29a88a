/** SGLang's metadata of a salted store: a map `{"cache_salt": "tenant-a"}` in the place of the adapter's name. */

import { NameTable } from "../msgpack/name-table.ts";
import type { MessagePackReader } from "../msgpack/reader.ts";
import { readString } from "../msgpack/values.ts";

const KEY_TABLE = new NameTable(["cache_salt"]);

/** Passes the map: its salt, "" when it has none, null when that is no text. */
export function readSaltMetadata(reader: MessagePackReader): string | null {
  let salt: string | null = "";
  for (let pairsLeft = reader.readMapHeader(); pairsLeft > 0; pairsLeft--) {
    const isSalt = KEY_TABLE.read(reader) >= 0;
    if (reader.readNil()) continue;
    if (isSalt) salt = readString(reader);
    else reader.skip();
  }
  return salt;
}
