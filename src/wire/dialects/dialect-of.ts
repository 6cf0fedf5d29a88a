/** Which decoder an engine's batches need. */

import type { Engine } from "#domain";
import type { Dialect } from "./dialect.ts";
import { SglangDialect } from "./sglang.ts";
import { VllmDialect } from "./vllm.ts";
import { XllmDialect } from "./xllm.ts";

/** A new decoder; one per thread and engine is enough for all its streams. */
export function dialectOf(engine: Engine): Dialect {
  switch (engine) {
    case "xllm":
      return new XllmDialect();
    case "vllm":
      return new VllmDialect();
    case "sglang":
      return new SglangDialect();
  }
}
