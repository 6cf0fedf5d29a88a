/** The pages of `test/fixtures/engine-metrics`, whose README says where they are from. */

import { join } from "node:path";

export type EnginePage = "vllm-0.8-one-engine" | "vllm-0.10-dp2" | "sglang-dp2-tp2";

export function enginePage(name: EnginePage): Promise<string> {
  return Bun.file(join(import.meta.dir, `../../fixtures/engine-metrics/${name}.txt`)).text();
}
