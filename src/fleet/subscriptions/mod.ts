/**
 * Which streams are open for which instances: a pure plan from the fleet and the rules, and the one who makes a set of streams
 * follow it.
 */

export type { SubscriptionRules } from "./rules.ts";
export { type StreamSet, Subscriptions } from "./subscriptions.ts";
