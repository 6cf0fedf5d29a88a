import { describe, expect, test } from "bun:test";
import { awaitsRetry, type ConnectionInput, type ConnectionState, connectionStep } from "../../src/wire/connection-state.ts";

const STATES: ConnectionState[] = ["apart", "joined", "lost", "turned-away", "given-up"];

/** Feeds inputs from the start; the events told, and the last state. */
function follow(...inputs: ConnectionInput[]) {
  let state: ConnectionState = "apart";
  const events = [];
  for (const input of inputs) {
    const step = connectionStep(state, input);
    state = step.state;
    if (step.event !== null) events.push(step.event);
  }
  return { state, events };
}

describe("connectionStep", () => {
  test("connectionStep tells of a publisher that goes and comes back", () => {
    const inputs: ConnectionInput[] = [
      "connect-retried",
      "handshake-succeeded",
      "disconnected",
      "connect-retried",
      "handshake-succeeded",
    ];
    expect(follow(...inputs)).toEqual({ state: "joined", events: ["connected", "disconnected", "connected"] });
  });

  test("connectionStep calls a disconnect without retry oversized", () => {
    expect(follow("handshake-succeeded", "disconnected", "retry-overdue").events).toEqual([
      "connected",
      "disconnected",
      "oversized",
    ]);
  });

  test("connectionStep calls a disconnect before the handshake, without retry, refused", () => {
    expect(follow("disconnected", "retry-overdue").events).toEqual(["refused"]);
    expect(follow("disconnected", "connect-retried", "retry-overdue").events).toEqual([]);
  });

  test.each(["mechanism-mismatch", "handshake-failed", "client-denied"] as const)(
    "connectionStep tells %s at once and once, whatever follows it",
    (failure) => {
      expect(follow(failure, "disconnected", "retry-overdue")).toEqual({ state: "given-up", events: [failure] });
      expect(follow("handshake-succeeded", "disconnected", "connect-retried", failure, "disconnected")).toEqual({
        state: "given-up",
        events: ["connected", "disconnected", failure],
      });
    },
  );

  test("connectionStep tells each handshake that is broken off, and follows libzmq's next try", () => {
    const inputs = ["handshake-broken-off", "disconnected", "connect-retried"] as const;
    expect(follow(...inputs, ...inputs, "handshake-succeeded")).toEqual({
      state: "joined",
      events: ["handshake-broken-off", "handshake-broken-off", "connected"],
    });
  });

  test("connectionStep follows libzmq whatever it believed: a retry means apart, a handshake joined", () => {
    for (const state of STATES) {
      const lost = state === "joined" ? "disconnected" : null;
      expect(connectionStep(state, "connect-retried")).toEqual({ state: "apart", event: lost });
      expect(connectionStep(state, "handshake-succeeded")).toEqual({ state: "joined", event: "connected" });
    }
  });

  test("connectionStep awaits a retry in exactly the states that an overdue one changes", () => {
    for (const state of STATES) expect(connectionStep(state, "retry-overdue").state !== state).toBe(awaitsRetry(state));
  });
});
