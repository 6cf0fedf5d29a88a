/** A process that logs eight times the same at each level and ends; `auto debug` are its format and level. */

import { createProcessLogger, type LOG_FORMATS, type LOG_LEVELS } from "#base";

const [logFormat, logLevel] = process.argv.slice(2) as [(typeof LOG_FORMATS)[number], (typeof LOG_LEVELS)[number]];
const logger = createProcessLogger({ logFormat, logLevel }, process.env);
for (let n = 0; n < 8; n++) {
  logger.debug?.("Detail", { instance: "a:1" });
  logger.info("Change", { instance: "a:1" });
  logger.error("Fault", { instance: "a:1" });
}
process.exit(3);
