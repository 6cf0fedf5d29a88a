/**
 * The wire: ZeroMQ through libzmq, and what engines say over it. A Subscriber hears one stream's live batches, a
 * RecoveryClient asks for its snapshot or its last batches, a Dialect turns payloads into KV events. The codec gives batches as
 * plain objects and writes them, for programs that speak to engines themselves. Sockets, contexts, the poller and the wake-up
 * are for whoever runs them in a thread (the stream room) or plays an engine (the sim room).
 */

export { type DecodedBatch, type DecodeOptions, decodeEventBatch } from "./codec/decode-events.ts";
export { encodeEventBatch } from "./codec/encode.ts";
export { MalformedBatchError } from "./codec/errors.ts";
export type {
  AllBlocksClearedEvent,
  BlockRemovedEvent,
  BlockStoredEvent,
  EventBatch,
  EventDetails,
  KvCacheEvent,
} from "./codec/event-batch.ts";
export { EVENT_SHAPES, type EventShape } from "./codec/event-shape.ts";
export type { ConnectionEvent } from "./connection-state.ts";
export { AttentionGroups } from "./dialects/attention-groups.ts";
export type { BatchOutcome, Dialect } from "./dialects/dialect.ts";
export { dialectOf } from "./dialects/dialect-of.ts";
export { SglangDialect } from "./dialects/sglang.ts";
export { VllmDialect } from "./dialects/vllm.ts";
export { XllmDialect } from "./dialects/xllm.ts";
export { ZmqContext } from "./libzmq/context.ts";
export {
  type CurveClient,
  type CurveKeyPair,
  type CurveServer,
  CurveUnavailableError,
  createCurveKeyPair,
  curveKeyPairOf,
  hasCurve,
} from "./libzmq/curve.ts";
export { type LibzmqAttempt, LibzmqNotFoundError, ZmqError } from "./libzmq/errors.ts";
export { loadLibzmq } from "./libzmq/locate.ts";
export { MessageBuffer } from "./libzmq/message-buffer.ts";
export type { HandshakeFailure } from "./libzmq/monitor.ts";
export { Poller } from "./libzmq/poller.ts";
export type { ReceiveResult, SocketOptions, ZmqSocket } from "./libzmq/socket.ts";
export { WakeupCaller, WakeupListener } from "./libzmq/wakeup.ts";
export { type RecoveryAnswers, RecoveryClient, type RecoveryClientOptions, type RecoveryReply } from "./recovery-client.ts";
export { type ReceivedBatch, Subscriber, type SubscriberOptions } from "./subscriber.ts";
