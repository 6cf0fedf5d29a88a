/**
 * `bun run engine -- --name host:port …`: one simulated xLLM engine as a program. It publishes over ZeroMQ, registers with Warmpath
 * or in etcd, sends heartbeats, works off the prompts that `bun run traffic` sends it, and goes on until it is stopped. Whoever
 * it cannot reach it tries again. With `--demo` it is an engine of `bun run demo`, to be killed without a word to anyone.
 */

import { createClient } from "warmpath/client";
import { createLogger, type Logger } from "#base";
import { ENGINE_USAGE, parseEngineOptions } from "./engine/engine-options.ts";
import { EtcdEngineRegistry, HttpEngineRegistry } from "./engine/engine-registry.ts";
import { ServedEngine } from "./engine/served-engine.ts";

/** As often as xLLM's engines. */
const HEARTBEAT_MS = 500;

const ANSWER_TIMEOUT_MS = 2000;

/** A stop takes no longer, whoever does not answer. */
const STOP_TIMEOUT_MS = 1500;

const options = attempt(2, () => parseEngineOptions(process.argv.slice(2)));
const { name, warmpathUrl, etcdAddress, isInDemo } = options;
// The demo tells by itself what becomes of its engines.
const logger: Logger = isInDemo ? { ...createLogger(), info: () => {} } : createLogger();
// The dashboard reads the process from it, to say how to kill it.
const incarnation = isInDemo ? `demo-process-${process.pid}` : crypto.randomUUID();
const engine = attempt(1, () => new ServedEngine(options));
const client = createClient(warmpathUrl, {
  internalApiToken: process.env.WARMPATH_INTERNAL_API_TOKEN ?? "",
  // The next heartbeat is the next try.
  retry: { attemptsMax: 1 },
  timeoutMs: ANSWER_TIMEOUT_MS,
});
const registry =
  etcdAddress === null
    ? new HttpEngineRegistry(client, options, engine.ports, incarnation)
    : new EtcdEngineRegistry(etcdAddress, options, incarnation);
logger.info("Engine serves", { instance: name, event_port: engine.ports.event, replay_port: engine.ports.replay });

let isStopping = false;
if (isInDemo) process.once("disconnect", () => process.exit(0));
else for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);

/** Why it is not known, or nothing; null before the first try. */
let trouble: string | null = null;
while (!isStopping) {
  await live();
  await Bun.sleep(HEARTBEAT_MS);
}

async function stop(): Promise<void> {
  isStopping = true;
  setTimeout(() => process.exit(0), STOP_TIMEOUT_MS);
  await registry
    .withdraw()
    .catch((error: Error) => logger.warn("Engine is not taken out of its registry", { reason: error.message }));
  await engine.close();
  process.exit(0);
}

/** Registers and sends a heartbeat; trouble is told when it begins, changes and ends. */
async function live(): Promise<void> {
  const reason = await tell().then(
    () => "",
    (error: Error) => error.message,
  );
  if (reason === trouble || isStopping) return;
  trouble = reason;
  if (reason === "") logger.info("Engine is registered, and its heartbeats are taken", { instance: name });
  else logger.warn("Engine is not known to Warmpath", { instance: name, reason });
}

async function tell(): Promise<void> {
  await registry.ensureRegistered();
  const { error } = await client.api.v1.internal.heartbeat.post({ name, incarnation_id: incarnation, load_metrics: engine.load });
  if (error?.status === 409) registry.forgotten();
  if (error)
    throw new Error("detail" in error.value ? error.value.detail : `Warmpath answers the heartbeat with ${error.status}`);
}

/** What `make` makes; where it cannot, the process ends with this code. */
function attempt<Made>(exitCode: number, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    console.error(`Cannot start the engine: ${error instanceof Error ? error.message : String(error)}\n${ENGINE_USAGE}`);
    process.exit(exitCode);
  }
}
