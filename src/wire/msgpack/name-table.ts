/** Recognizes the few ASCII names that a format knows, straight from bytes: no string is made of what a peer sends. */

import type { MessagePackReader } from "./reader.ts";

type CaseRule = "exact" | "ignore-case";

export class NameTable {
  /** By length of name: positions in the list given. */
  readonly #positionsByLength: number[][] = [];
  readonly #names: Uint8Array[];
  readonly #caseRule: CaseRule;

  /** `names` are ASCII, and in lower case for "ignore-case". */
  constructor(names: readonly string[], caseRule: CaseRule = "exact") {
    this.#names = names.map((name) => new TextEncoder().encode(name));
    this.#caseRule = caseRule;
    for (const [position, name] of this.#names.entries()) {
      this.#positionsByLength[name.length] ??= [];
      this.#positionsByLength[name.length].push(position);
    }
  }

  /** Position of the name that stands in `bytes` from `start` to `end` (exclusive), or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    for (const position of this.#positionsByLength[end - start] ?? []) {
      if (this.#matches(this.#names[position], bytes, start)) return position;
    }
    return -1;
  }

  /** Passes one value of any type: as `find` when it is text, else -1. */
  read(reader: MessagePackReader): number {
    if (reader.readText()) return this.find(reader.bytes, reader.rawStart, reader.rawEnd);
    reader.skip();
    return -1;
  }

  #matches(name: Uint8Array, bytes: Uint8Array, start: number): boolean {
    for (let index = 0; index < name.length; index++) {
      const byte = bytes[start + index];
      if (byte !== name[index] && (this.#caseRule === "exact" || toLowerCase(byte) !== name[index])) return false;
    }
    return true;
  }
}

function toLowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}
