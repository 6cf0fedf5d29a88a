/**
 * xLLM's KV events: batches of typed maps with vLLM's field names, the array forms as well. Its content keys are those of plain
 * text alone, so that blocks of other namespaces are left out.
 */

import { EventDecoder } from "./event-decoder.ts";

export class XllmDialect extends EventDecoder {
  constructor() {
    super({ namespaces: "skipped", rootParent: null });
  }
}
