/**
 * SGLang's KV events: vLLM's array form, maps since September 2026. A cache salt comes as metadata in the seventh place, or as a
 * field of a map; a bigram draft model makes tokens pairs.
 */

import { EventDecoder } from "./event-decoder.ts";

/** 5740354900026072187, Python's hash of the empty tuple: until November 2025 it stood in place of a root's nil parent. */
export const EMPTY_TUPLE_HASH = { low: 0x2cba_1c7b, high: 0x4fa9_d65e };

export class SglangDialect extends EventDecoder {
  constructor() {
    super({ namespaces: "delivered", rootParent: EMPTY_TUPLE_HASH });
  }
}
