/**
 * The wire: ZeroMQ through libzmq, and what engines say over it. A Subscriber hears one stream's live batches, a
 * RecoveryClient asks for its snapshot, a Dialect turns payloads into KV events. Sockets, contexts, the poller and the
 * wake-up are for whoever runs them in a thread (the stream room) or plays an engine (the sim room).
 */

export type { ConnectionEvent } from "./connection-state.ts";
export type { BatchOutcome, Dialect } from "./dialects/dialect.ts";
export { XllmDialect } from "./dialects/xllm.ts";
export { ZmqContext } from "./libzmq/context.ts";
export { type LibzmqAttempt, LibzmqNotFoundError, ZmqError } from "./libzmq/errors.ts";
export { loadLibzmq } from "./libzmq/locate.ts";
export { MessageBuffer } from "./libzmq/message-buffer.ts";
export { Poller } from "./libzmq/poller.ts";
export type { ReceiveResult, SocketOptions, ZmqSocket } from "./libzmq/socket.ts";
export { WakeupCaller, WakeupListener } from "./libzmq/wakeup.ts";
export { RecoveryClient, type RecoveryClientOptions, type RecoveryReply } from "./recovery-client.ts";
export { type ReceivedBatch, Subscriber, type SubscriberOptions } from "./subscriber.ts";
