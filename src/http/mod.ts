/**
 * The typed HTTP door: one folder per feature, its schema beside it, and problem documents for every refusal. It knows the
 * directory and the fleet through small interfaces and holds no state of its own.
 */

export { type App, createApp } from "./app.ts";
export type { AppDependencies, KvDirectory, Readiness } from "./dependencies.ts";
export { ListenError, type Listener, type ListenOptions, listen } from "./listen.ts";
