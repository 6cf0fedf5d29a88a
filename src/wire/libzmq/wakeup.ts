/**
 * Wakes a thread that waits in a poller: one thread listens, one other thread of the process calls. They share a context, and
 * the context's address is all that crosses between them. Calls that come before the listener has looked are one.
 */

import { ZmqContext } from "./context.ts";
import { MessageBuffer } from "./message-buffer.ts";
import type { ZmqSocket } from "./socket.ts";

/** One listener per context: a second one fails with EADDRINUSE. */
const ENDPOINT = "inproc://wakeup";

/** One waiting call says all: more would say it again. */
const QUEUE = { sendQueueMessages: 1, receiveQueueMessages: 1 } as const;

const CALL = [new Uint8Array(0)];

/** The end that is woken. */
export class WakeupListener {
  /** Readable when there was a call; for a poller. */
  readonly socket: ZmqSocket;
  readonly #buffer = new MessageBuffer(0);

  /** Throws ZmqError when the context has a listener already. */
  constructor(context: ZmqContext) {
    this.socket = context.openSocket("PAIR", QUEUE);
    try {
      this.socket.bind(ENDPOINT);
    } catch (error) {
      this.socket.close();
      throw error;
    }
  }

  /** Takes all calls so far; true when there was one. */
  drain(): boolean {
    let wasCalled = false;
    while (this.socket.receive(this.#buffer) !== "would-block") wasCalled = true;
    return wasCalled;
  }

  close(): void {
    this.socket.close();
  }
}

/** The end that wakes; one per listener, in its own thread. It may come into being before the listener. */
export class WakeupCaller {
  readonly #socket: ZmqSocket;

  /** `contextAddress` is the `address` of the listener's context. */
  constructor(contextAddress: number) {
    this.#socket = ZmqContext.attach(contextAddress).openSocket("PAIR", QUEUE);
    this.#socket.connect(ENDPOINT);
  }

  /** Never waits: when calls are waiting already, or nobody listens any more, there is nothing to add. */
  wake(): void {
    this.#socket.send(CALL);
  }

  close(): void {
    this.#socket.close();
  }
}
