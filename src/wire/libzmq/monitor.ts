/**
 * What happens to a socket's connections, from zmq_socket_monitor. libzmq's I/O thread waits, and all sockets of the context with
 * it, when it cannot deliver an event: because the queue of events is full, or because the receiving end is gone. So only
 * the events that mean something here are asked for, every monitor must be read as long as it is open, and `close` stops the
 * sending end first.
 */

import { threadId } from "node:worker_threads";
import { assert } from "#base";
import { lastZmqError, toCString } from "./binding.ts";
import { MECHANISM_MISMATCH, MONITOR_EVENT } from "./constants.ts";
import type { ZmqContext } from "./context.ts";
import { loadLibzmq } from "./locate.ts";
import { MessageBuffer } from "./message-buffer.ts";
import type { ZmqSocket } from "./socket.ts";

/**
 * `handshake-succeeded`: a peer is there and messages can flow. `disconnected`: a connection ended, before or after its
 * handshake. `connect-retried`: libzmq will try again by itself. `mechanism-mismatch`: the two sides are set to different
 * security mechanisms. `handshake-failed`: the peer broke the protocol. `client-denied`: the peer does not accept our key.
 * `handshake-broken-off`: the peer closed the connection within the handshake, for a reason that it did not tell.
 */
export type MonitorEvent = "handshake-succeeded" | "disconnected" | "connect-retried" | "handshake-broken-off" | HandshakeFailure;

/** After these libzmq does not try again. */
export type HandshakeFailure = "mechanism-mismatch" | "handshake-failed" | "client-denied";

const EVENT_BY_BIT = new Map<number, MonitorEvent>([
  [MONITOR_EVENT.HANDSHAKE_SUCCEEDED, "handshake-succeeded"],
  [MONITOR_EVENT.DISCONNECTED, "disconnected"],
  [MONITOR_EVENT.CONNECT_RETRIED, "connect-retried"],
  [MONITOR_EVENT.HANDSHAKE_FAILED_NO_DETAIL, "handshake-broken-off"],
  [MONITOR_EVENT.HANDSHAKE_FAILED_PROTOCOL, "handshake-failed"],
  [MONITOR_EVENT.HANDSHAKE_FAILED_AUTH, "client-denied"],
]);
const EVENT_MASK = [...EVENT_BY_BIT.keys()].reduce((mask, bit) => mask | bit);

/** Two frames: event u16 and value u32 in native order, then the endpoint, which is not needed and may be cut off. */
const eventBuffer = new MessageBuffer(0);
const eventView = new DataView(eventBuffer.bytes.buffer);

let monitorCount = 0;

export class SocketMonitor {
  /** Readable when an event waits; for a poller. */
  readonly socket: ZmqSocket;
  readonly #functions = loadLibzmq().functions;
  readonly #monitored: ZmqSocket;

  /** Watches `monitored`, which must not be connected yet if no event is to be missed. Throws ZmqError. */
  constructor(context: ZmqContext, monitored: ZmqSocket) {
    const endpoint = `inproc://monitor-${threadId}-${monitorCount++}`;
    if (this.#functions.zmq_socket_monitor(monitored.handle, toCString(endpoint), EVENT_MASK) !== 0) {
      throw lastZmqError(this.#functions, "monitor a socket");
    }
    this.#monitored = monitored;
    try {
      this.socket = context.openSocket("PAIR");
      this.socket.connect(endpoint);
    } catch (error) {
      this.#stop();
      throw error;
    }
  }

  /** The next event, or null when none waits. */
  next(): MonitorEvent | null {
    if (this.socket.receive(eventBuffer) === "would-block") return null;
    const event = EVENT_BY_BIT.get(eventView.getUint16(0, true));
    assert(event !== undefined, "a monitor reports only events that were asked for");
    const isMismatch = event === "handshake-failed" && eventView.getUint32(2, true) === MECHANISM_MISMATCH;
    return isMismatch ? "mechanism-mismatch" : event;
  }

  /** Ends the watch; the monitored socket must still be open. */
  close(): void {
    this.#stop();
    this.socket.close();
  }

  #stop(): void {
    this.#functions.zmq_socket_monitor(this.#monitored.handle, null, 0);
  }
}
