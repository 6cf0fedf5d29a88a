/** What the wire tells, as events of the stream: pure, one function for each of its voices. */

import { STREAM_SOCKET, type StreamSocket, type Unsynchronized, unsynchronized } from "#domain";
import type { ConnectionEvent, HandshakeFailure, ReceivedBatch, RecoveryReply } from "#wire";
import type { StreamEvent } from "./state.ts";

/** What a stream knows of itself when it judges what it is told. */
export interface Listener {
  maxMessageBytes: number;
  /** Whether the stream is encrypted, by its own description. */
  hasCurveKey: boolean;
}

export function connectionEvent(event: ConnectionEvent, { maxMessageBytes, hasCurveKey }: Listener): StreamEvent {
  switch (event) {
    case "connected":
      return { type: "connected" };
    case "disconnected":
      return { type: "disconnected" };
    case "handshake-broken-off":
      return {
        type: "handshake-broken-off",
        problem: hasCurveKey ? handshakeProblem("handshake-failed", "event", true) : unsynchronized("handshake-broken-off"),
      };
    case "oversized":
      return { type: "subscriber-lost", problem: unsynchronized("message-oversized", maxMessageBytes) };
    case "refused":
      return { type: "subscriber-lost", problem: unsynchronized("not-a-publisher") };
    case "mechanism-mismatch":
    case "handshake-failed":
    case "client-denied":
      return { type: "subscriber-lost", problem: handshakeProblem(event, "event", hasCurveKey) };
  }
}

function handshakeProblem(failure: HandshakeFailure, socket: StreamSocket, hasCurveKey: boolean): Unsynchronized {
  switch (failure) {
    case "mechanism-mismatch":
      return unsynchronized(hasCurveKey ? "curve-not-spoken" : "curve-key-missing", STREAM_SOCKET[socket]);
    case "handshake-failed":
      if (!hasCurveKey) return unsynchronized(socket === "event" ? "not-a-publisher" : "not-a-replay-endpoint");
      return unsynchronized("curve-handshake-failed", STREAM_SOCKET[socket]);
    case "client-denied":
      return unsynchronized("curve-client-denied", STREAM_SOCKET[socket]);
  }
}

/** A live message that is no batch; null for one that is for somebody else. */
export function strayEvent(message: Exclude<ReceivedBatch, { kind: "batch" }>, maxMessageBytes: number): StreamEvent | null {
  switch (message.kind) {
    case "foreign-topic":
      return null;
    case "malformed-frames":
      return { type: "message-malformed", problem: unsynchronized("frames-malformed", message.frames) };
    case "oversized":
      return { type: "message-malformed", problem: unsynchronized("message-oversized", maxMessageBytes) };
  }
}

/** What a recovery client tells; a replayed batch is the stream's own affair, for it needs the payload. */
export function replyEvent(
  reply: Exclude<RecoveryReply, { kind: "batch" }>,
  { maxMessageBytes, hasCurveKey }: Listener,
  asked: "snapshot" | "replay",
): StreamEvent {
  const failed = (problem: Unsynchronized): StreamEvent => ({ type: "request-failed", problem });
  switch (reply.kind) {
    case "snapshot":
      return { type: "snapshot", watermark: reply.watermark };
    case "end":
      return { type: "answer-end" };
    case "malformed":
      return failed(unsynchronized(`${asked}-malformed`));
    case "oversized":
      return failed(unsynchronized(`${asked}-oversized`, maxMessageBytes));
    case "refused":
      return failed(unsynchronized("not-a-replay-endpoint"));
    case "mechanism-mismatch":
    case "handshake-failed":
    case "client-denied":
      return failed(handshakeProblem(reply.kind, "replay", hasCurveKey));
    case "handshake-broken-off":
      return failed(handshakeProblem("handshake-failed", "replay", hasCurveKey));
  }
}
