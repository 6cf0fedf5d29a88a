/**
 * The typed HTTP door: one folder per feature, its schema beside it, and problem documents for every refusal. It knows the
 * directory, the fleet and the router through small interfaces and holds no state of its own.
 */

export { type App, createApp } from "./app.ts";
export { DecisionLog } from "./dashboard/decision-log.ts";
export type { DashboardMessage, DecisionEntry, DecisionSample } from "./dashboard/message.ts";
export type { AppDependencies, KvDirectory, Readiness, Unready } from "./dependencies.ts";
export type { InstancesAnswer } from "./instances/schema.ts";
export { ListenError, type Listener, type ListenOptions, listen } from "./listen.ts";
export { MeteredDirectory, observeDecisions } from "./metrics/mod.ts";
export type { ProblemDocument } from "./problem.ts";
export type { InstanceMatch } from "./query/schema.ts";
export type { DecisionAnswer } from "./route/schema.ts";
