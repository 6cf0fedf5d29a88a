/**
 * vLLM's KV events, and those of connectors that publish through it: arrays up to 0.23, typed maps since 0.24. Namespaces come as
 * `lora_name` (at first only `lora_id`, a number of the engine's own) and `extra_keys`, whose last text in block 0 is a cache salt.
 */

import { EventDecoder } from "./event-decoder.ts";

export class VllmDialect extends EventDecoder {
  constructor() {
    super({ namespaces: "delivered", rootParent: null });
  }
}
