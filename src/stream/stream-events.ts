/** What the wire tells, as events of the stream: pure, one function for each of its voices. */

import { type Unsynchronized, unsynchronized } from "#domain";
import type { ConnectionEvent, ReceivedBatch, RecoveryReply } from "#wire";
import type { StreamEvent } from "./state.ts";

export function connectionEvent(event: ConnectionEvent, maxMessageBytes: number): StreamEvent {
  switch (event) {
    case "connected":
      return { type: "connected" };
    case "disconnected":
      return { type: "disconnected" };
    case "oversized":
      return { type: "subscriber-lost", problem: unsynchronized("message-oversized", maxMessageBytes) };
    case "refused":
      return { type: "subscriber-lost", problem: unsynchronized("not-a-publisher") };
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
  maxMessageBytes: number,
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
  }
}
