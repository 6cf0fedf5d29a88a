/** Follows one socket's connection through its monitor and a clock. It must be asked regularly: see SocketMonitor. */

import type { Clock } from "#base";
import {
  awaitsRetry,
  type ConnectionEvent,
  type ConnectionInput,
  type ConnectionState,
  connectionStep,
} from "./connection-state.ts";
import type { SocketType } from "./libzmq/constants.ts";
import type { ZmqContext } from "./libzmq/context.ts";
import { SocketMonitor } from "./libzmq/monitor.ts";
import type { SocketOptions, ZmqSocket } from "./libzmq/socket.ts";

/**
 * libzmq's I/O thread announces its retry microseconds after the disconnect, so half a second is for a machine that does not
 * let it run. Too short only replaces a socket that would have come back.
 */
export const RETRY_GRACE_MS = 500;

export class ConnectionWatch {
  readonly #monitor: SocketMonitor;
  readonly #clock: Clock;
  #state: ConnectionState = "apart";
  #dueAtMs = Number.POSITIVE_INFINITY;

  /** Watches `socket`, which is not connected yet. Throws ZmqError. */
  constructor(context: ZmqContext, socket: ZmqSocket, clock: Clock) {
    this.#monitor = new SocketMonitor(context, socket);
    this.#clock = clock;
  }

  /** The monitor's socket, for a poller. */
  get socket(): ZmqSocket {
    return this.#monitor.socket;
  }

  /** When `next` may have something to tell although the monitor is silent; Infinity when that cannot be. */
  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  /** The next thing to tell, or null when there is none now. */
  next(): ConnectionEvent | null {
    for (let input = this.#nextInput(); input !== null; input = this.#nextInput()) {
      const { state, event } = connectionStep(this.#state, input);
      this.#state = state;
      this.#dueAtMs = awaitsRetry(state) ? this.#clock.nowMs() + RETRY_GRACE_MS : Number.POSITIVE_INFINITY;
      if (event !== null) return event;
    }
    return null;
  }

  close(): void {
    this.#monitor.close();
  }

  #nextInput(): ConnectionInput | null {
    return this.#monitor.next() ?? (this.#clock.nowMs() >= this.#dueAtMs ? "retry-overdue" : null);
  }
}

/** Opens a socket that connects to `endpoint` under a watch; throws ZmqError, with nothing left open. */
export function connectWatched(
  context: ZmqContext,
  clock: Clock,
  type: SocketType,
  options: SocketOptions,
  endpoint: string,
): { socket: ZmqSocket; watch: ConnectionWatch } {
  const socket = context.openSocket(type, options);
  let watch: ConnectionWatch | null = null;
  try {
    watch = new ConnectionWatch(context, socket, clock);
    socket.connect(endpoint);
    return { socket, watch };
  } catch (error) {
    watch?.close();
    socket.close();
    throw error;
  }
}
