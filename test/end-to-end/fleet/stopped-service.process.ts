/**
 * Starts Warmpath with the arguments of the command line, stops it on SIGTERM, and then asks for no exit: the process ends by
 * itself, or not at all when anything that was started is still there.
 */

import { createLogger } from "#base";
import { loadConfig } from "#config";
import { Service } from "#service";

const config = await loadConfig(process.argv.slice(2), process.env);
if (config === "help") throw new Error("Cannot start: help was not asked for");
const service = await Service.start(config, createLogger());

process.once("SIGTERM", async () => {
  const askedAtMs = performance.now();
  await service.stop();
  console.log(Math.round(performance.now() - askedAtMs));
});
