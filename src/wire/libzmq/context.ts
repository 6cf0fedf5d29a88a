/**
 * A libzmq context. The thread that created it ends it; other threads attach by address and only open sockets. A socket
 * belongs to the thread that opened it.
 */

import type { Pointer } from "bun:ffi";
import { assert } from "#base";
import { type LibzmqFunctions, lastZmqError } from "./binding.ts";
import { CONTEXT_OPTION, SOCKET_TYPE, type SocketType } from "./constants.ts";
import { loadLibzmq } from "./locate.ts";
import { type SocketOptions, ZmqSocket } from "./socket.ts";

/**
 * 128 streams use 6 sockets each (SUB, DEALER, and for each a monitor's two ends); closed ones count until libzmq's reaper
 * has run, so that reopening all at once needs twice as many. The rest is reserve: an unused slot costs 4 bytes.
 */
const MAX_SOCKETS = 4096;

export class ZmqContext {
  /** Crosses threads as a plain number; `attach` takes it. */
  readonly address: number;
  readonly #functions: LibzmqFunctions;
  readonly #ownership: "owner" | "guest";
  #openSockets = 0;

  private constructor(functions: LibzmqFunctions, address: number, ownership: "owner" | "guest") {
    this.#functions = functions;
    this.address = address;
    this.#ownership = ownership;
  }

  /** A new context, owned by this thread. Throws LibzmqNotFoundError. */
  static create(): ZmqContext {
    const { functions } = loadLibzmq();
    const address = functions.zmq_ctx_new();
    if (address === null) throw lastZmqError(functions, "create a context");
    if (functions.zmq_ctx_set(address, CONTEXT_OPTION.MAX_SOCKETS, MAX_SOCKETS) !== 0) {
      throw lastZmqError(functions, `allow ${MAX_SOCKETS} sockets`);
    }
    return new ZmqContext(functions, Number(address), "owner");
  }

  /** The context that another thread of this process created, by its `address`. The owner must outlive this use of it. */
  static attach(address: number): ZmqContext {
    return new ZmqContext(loadLibzmq().functions, address, "guest");
  }

  /** Opens a socket of this thread; throws ZmqError (EMFILE at the limit of sockets or file descriptors). */
  openSocket(type: SocketType, options: SocketOptions = {}): ZmqSocket {
    const handle = this.#functions.zmq_socket(this.address as Pointer, SOCKET_TYPE[type]);
    if (handle === null) throw lastZmqError(this.#functions, `open a ${type} socket`);
    this.#openSockets += 1;
    return new ZmqSocket(this.#functions, Number(handle) as Pointer, options, () => {
      this.#openSockets -= 1;
    });
  }

  /**
   * Ends the context. libzmq waits here, without limit, for sockets that are still open in any thread: the owner first has the
   * other threads close theirs, its own must be closed already, and where a thread died with sockets open the context is
   * left to the end of the process.
   */
  terminate(): void {
    assert(this.#ownership === "owner", "a context is ended by the thread that created it");
    assert(this.#openSockets === 0, "a context is ended after its sockets are closed");
    if (this.#functions.zmq_ctx_term(this.address as Pointer) !== 0) throw lastZmqError(this.#functions, "end a context");
  }
}
