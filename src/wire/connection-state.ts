/**
 * What a monitored connection tells its user, as a pure function. libzmq tries again after every disconnect but one: when a
 * peer breaks the protocol, a frame above the size limit above all, it gives the connection up without a word. So a
 * disconnect means one of two things, and the retry that follows it within microseconds, or does not, tells which.
 *
 *                      connect-retried
 *             ┌──────────────────────────────┐
 *             v                              │
 *           apart ── disconnected ──▶  turned-away ── overdue ──▶ given-up ("refused")
 *             │ handshake
 *             v        disconnected
 *          joined ───────────────────▶     lost ───── overdue ──▶ given-up ("oversized")
 *                                            │ connect-retried
 *                                            └──▶ apart
 *
 *           any ── a failure of the handshake that libzmq names ──▶ given-up (that failure)
 */

import type { HandshakeFailure, MonitorEvent } from "./libzmq/monitor.ts";

/**
 * `oversized`: the peer sent a frame above the limit (or, what no real libzmq does, broke the framing after a handshake).
 * `refused`: the peer failed the handshake: no ZeroMQ, or a socket type that does not go with ours. After these and after a
 * `HandshakeFailure` the socket is dead and must be replaced; after the others it connects again by itself.
 * `handshake-broken-off`: the peer closed within the handshake; where one side is encrypted and the other not, or with another
 * key, that is all that the slower side may learn.
 */
export type ConnectionEvent = "connected" | "disconnected" | "handshake-broken-off" | "oversized" | "refused" | HandshakeFailure;

export type ConnectionState = "apart" | "joined" | "lost" | "turned-away" | "given-up";

/** `retry-overdue`: the time for libzmq's own retry after a disconnect has passed. */
export type ConnectionInput = MonitorEvent | "retry-overdue";

export interface ConnectionStep {
  state: ConnectionState;
  event: ConnectionEvent | null;
}

const silently = (state: ConnectionState): ConnectionStep => ({ state, event: null });

/** The state after `input`, and what to tell. */
export function connectionStep(state: ConnectionState, input: ConnectionInput): ConnectionStep {
  switch (input) {
    case "handshake-succeeded":
      return { state: "joined", event: "connected" };
    case "connect-retried":
      return { state: "apart", event: state === "joined" ? "disconnected" : null };
    case "disconnected":
      if (state === "given-up") return silently(state);
      return state === "joined" ? { state: "lost", event: "disconnected" } : silently("turned-away");
    case "retry-overdue":
      if (state === "lost") return { state: "given-up", event: "oversized" };
      if (state === "turned-away") return { state: "given-up", event: "refused" };
      return silently(state);
    case "mechanism-mismatch":
    case "handshake-failed":
    case "client-denied":
      return { state: "given-up", event: input };
    case "handshake-broken-off":
      return { state, event: input };
  }
}

/** Whether the next thing to happen must be libzmq's retry. */
export function awaitsRetry(state: ConnectionState): boolean {
  return state === "lost" || state === "turned-away";
}
