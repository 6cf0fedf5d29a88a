/**
 * Simulated xLLM engines for the demo, the tests and the benchmarks: a prefix cache that behaves like an engine's, chat-like
 * traffic to fill it, and the sockets that announce it. It shares no code with what reads the events.
 */

export { type ChatTrafficOptions, chatTraffic, SMALL_SITE, VOCABULARY_SIZE } from "./chat-traffic.ts";
export { type CacheView, type EngineFault, SimulatedEngine, type SimulatedEngineOptions, type StepReport } from "./engine.ts";
export type { CacheTier, EngineEvent, OffloadForm } from "./engine-event.ts";
export { type FleetOptions, SimulatedFleet } from "./fleet.ts";
export { type Admission, PrefixCache, type PrefixCacheOptions } from "./prefix-cache.ts";
export { SeededRandom } from "./random.ts";
export { type RunOptions, runEngines } from "./run-engines.ts";
export { encodeBatch, encodeBatchSeq } from "./xllm-codec.ts";
