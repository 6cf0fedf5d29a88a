/** The process: arguments in, signals, exit code out. 0: stopped as asked. 1: cannot run. 2: the configuration is wrong. */

import { createLogger } from "#base";
import { ConfigError, helpText, loadConfig } from "#config";
import { Service } from "#service";

/** A stop takes no longer than this, whatever hangs. */
const STOP_TIMEOUT_MS = 1800;

/** A proxy leads to what is outside; engines are inside, and `fetch` would ask them through it all the same. */
const PROXY_VARIABLES = ["HTTP_PROXY", "http_proxy"];

/** Runs Warmpath with these arguments until a signal ends it. */
export async function main(args: string[]): Promise<void> {
  const logger = createLogger();
  for (const name of PROXY_VARIABLES) delete process.env[name];
  try {
    const config = await loadConfig(args, process.env);
    if (config === "help") {
      console.log(helpText());
      return;
    }
    const service = await Service.start(config, logger);
    await untilSignal();
    logger.info("Stopping");
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS);
    await service.stop();
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(error instanceof ConfigError ? 2 : 1);
  }
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
}

if (import.meta.main) await main(process.argv.slice(2));
