/** Builds what must be built and starts Warmpath in this process, so that signals and exit code are its own. */

import { main } from "../src/main.ts";
import { buildKernel } from "./build-kernel.ts";

await buildKernel();
await main(process.argv.slice(2));
