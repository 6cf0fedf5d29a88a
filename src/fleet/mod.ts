/**
 * The fleet: which engines are there, in which state, how busy, and which of their ranks are listened to. Registries tell it,
 * pure transitions decide, and the room acts. README.md has the table of states.
 */

export type { Fleet, Heartbeat, HeartbeatOutcome } from "./fleet.ts";
export type { DeregisterOutcome, HttpRegistry, RegisterOutcome } from "./http-registry.ts";
export { INSTANCE_STATES, type Instance, type Refusal } from "./instance.ts";
export type { CurrentLoad } from "./loads.ts";
export { type OpenFleet, openFleet } from "./open-fleet.ts";
export type { Subscriptions } from "./subscriptions/mod.ts";
