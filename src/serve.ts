/** The process of the service: arguments in, signals, exit code out. 0: stopped as asked. 1: cannot run. 2: the configuration is wrong. */

import { createProcessLogger } from "#base";
import { COMMANDS } from "#cli";
import { ConfigError, helpText, loadConfig } from "#config";
import { Service } from "#service";

/** A stop takes no longer than this, whatever hangs. */
const STOP_TIMEOUT_MS = 1800;

/** Serves with these arguments until a signal ends it. */
export async function serve(args: string[]): Promise<void> {
  const config = await loadConfig(args, process.env).catch((error: unknown) => {
    // Before the settings are known, nobody knows how the log is to be written.
    console.error(sentence(error));
    process.exit(error instanceof ConfigError ? 2 : 1);
  });
  if (config === "help") {
    console.log(helpText(COMMANDS));
    return;
  }
  const logger = createProcessLogger(config, process.env);
  try {
    const service = await Service.start(config, logger);
    await untilSignal();
    logger.info("Stopping");
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS);
    await service.stop();
    process.exit(0);
  } catch (error) {
    logger.error(sentence(error));
    process.exit(1);
  }
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
}
