/**
 * One ZeroMQ socket, used by the thread that opened it and never blocking. Options are set before anything connects; pending
 * messages are dropped on close (linger 0).
 *
 * `mayBeReadable` makes a poller possible: a socket's file descriptor tells that libzmq has commands for it, not that it has
 * messages, and any call may take the commands. So it is true from every call that may have taken them until a receive
 * or a look finds nothing left; only then does the descriptor signal the next message.
 */

import type { Pointer } from "bun:ffi";
import { assert } from "#base";
import { type LibzmqFunctions, lastZmqError, toCString } from "./binding.ts";
import { FLAG, OPTION, POLLIN } from "./constants.ts";
import { type CurveSide, encryptedBytes } from "./curve.ts";
import { EAGAIN } from "./errors.ts";
import type { MessageBuffer } from "./message-buffer.ts";

/** What is not given keeps libzmq's default. */
export interface SocketOptions {
  /** Largest frame; a peer that sends a larger one is disconnected for good. */
  maxMessageBytes?: number;
  /** Messages queued per peer: beyond it a PUB drops, others would block, and reading from the network pauses. */
  sendQueueMessages?: number;
  receiveQueueMessages?: number;
  reconnectIntervalMs?: number;
  reconnectIntervalMaxMs?: number;
  heartbeatIntervalMs?: number;
  heartbeatTimeoutMs?: number;
  /** Topic prefix of a SUB socket. */
  subscription?: Uint8Array;
  /** Null and absent alike: in the clear. */
  curve?: CurveSide | null;
}

/** `truncated`: the message was taken, but not all of it is in the buffer. */
export type ReceiveResult = "message" | "truncated" | "would-block";

/** libzmq's longest endpoint is an ipc path of 108 bytes; tcp ones are shorter. */
const ENDPOINT_BYTES = 256;

export class ZmqSocket {
  readonly #functions: LibzmqFunctions;
  readonly #onClose: () => void;
  readonly #value = new Int32Array(1);
  readonly #valueBytes = new BigUint64Array([4n]);
  #handle: Pointer | null;
  #mayBeReadable = true;

  /** For ZmqContext.openSocket. Closes the handle when an option is refused. */
  constructor(functions: LibzmqFunctions, handle: Pointer, options: SocketOptions, onClose: () => void) {
    this.#functions = functions;
    this.#handle = handle;
    this.#onClose = onClose;
    try {
      this.#applyOptions(options);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Address for libzmq calls that take a socket; throws after close. */
  get handle(): Pointer {
    assert(this.#handle !== null, "a socket is used before it is closed");
    return this.#handle;
  }

  /** Whether the file descriptor cannot speak for this socket now; see above. */
  get mayBeReadable(): boolean {
    return this.#mayBeReadable;
  }

  /** The descriptor that signals commands for this socket, unless it `mayBeReadable`. */
  get fileDescriptor(): number {
    return this.#readOption(OPTION.FD);
  }

  /** Binds and returns the actual endpoint: port 0 or `*` becomes the port that the system chose. Throws ZmqError. */
  bind(endpoint: string): string {
    this.#check(this.#functions.zmq_bind(this.handle, toCString(endpoint)), () => `bind ${JSON.stringify(endpoint)}`);
    const text = new Uint8Array(ENDPOINT_BYTES);
    const length = new BigUint64Array([BigInt(ENDPOINT_BYTES)]);
    const result = this.#functions.zmq_getsockopt(this.handle, OPTION.LAST_ENDPOINT, text, length);
    this.#check(result, () => `read the endpoint of ${JSON.stringify(endpoint)}`);
    return new TextDecoder().decode(text.subarray(0, Number(length[0]) - 1));
  }

  /** Starts connecting in the background and goes on trying; throws ZmqError only for an endpoint that makes no sense. */
  connect(endpoint: string): void {
    this.#check(this.#functions.zmq_connect(this.handle, toCString(endpoint)), () => `connect ${JSON.stringify(endpoint)}`);
  }

  /** Sends one message of one or more frames, all or nothing; false when it would block. */
  send(frames: readonly Uint8Array[]): boolean {
    const flags = frames.length > 1 ? FLAG.DONTWAIT | FLAG.SNDMORE : FLAG.DONTWAIT;
    if (!this.#sendFrame(frames[0], flags)) {
      this.checkReadable(); // libzmq may not have looked for a millisecond whether the peer made room: this makes it look
      if (!this.#sendFrame(frames[0], flags)) return false;
    }
    this.#mayBeReadable = true;
    for (let index = 1; index < frames.length; index++) {
      const isSent = this.#sendFrame(frames[index], index < frames.length - 1 ? flags : FLAG.DONTWAIT);
      assert(isSent, "libzmq takes every frame of a message whose first it took");
    }
    return true;
  }

  /**
   * Takes the next message into `buffer`, all its frames or what fits of them. zmq_recv copies straight into the buffer; a
   * reused zmq_msg_t and a memcpy measures the same (0.4 us for three frames, 2 kB) and needs five calls a frame for two.
   */
  receive(buffer: MessageBuffer): ReceiveResult {
    const handle = this.handle;
    buffer.clear();
    let isWhole = true;
    do {
      const target = (buffer.address + buffer.usedBytes) as Pointer;
      const length = this.#functions.zmq_recv(handle, target, buffer.freeBytes, FLAG.DONTWAIT);
      if (length < 0) {
        const isIdle = buffer.frameCount === 0 && this.#functions.zmq_errno() === EAGAIN;
        if (!isIdle) throw lastZmqError(this.#functions, "receive a message");
        this.#mayBeReadable = false;
        return "would-block";
      }
      isWhole = buffer.append(length) && isWhole;
    } while (this.#readOption(OPTION.RCVMORE) !== 0);
    this.#mayBeReadable = true;
    return isWhole ? "message" : "truncated";
  }

  /** Whether a receive would find a message now; takes the commands behind the file descriptor's signal. */
  checkReadable(): boolean {
    this.#mayBeReadable = (this.#readOption(OPTION.EVENTS) & POLLIN) !== 0;
    return this.#mayBeReadable;
  }

  /** Closes at once; what is still queued is dropped. A poller must have let go of it. Closing twice is harmless. */
  close(): void {
    if (this.#handle === null) return;
    this.#functions.zmq_close(this.#handle);
    this.#handle = null;
    this.#onClose();
  }

  #sendFrame(frame: Uint8Array, flags: number): boolean {
    const bytes = frame.length === 0 ? null : frame; // an empty view has no address
    if (this.#functions.zmq_send(this.handle, bytes, frame.length, flags) >= 0) return true;
    if (this.#functions.zmq_errno() === EAGAIN) return false;
    throw lastZmqError(this.#functions, "send a message");
  }

  #applyOptions(options: SocketOptions): void {
    this.#setInt(OPTION.LINGER, 0);
    this.#setInt(OPTION.SNDHWM, options.sendQueueMessages);
    this.#setInt(OPTION.RCVHWM, options.receiveQueueMessages);
    this.#setInt(OPTION.RECONNECT_IVL, options.reconnectIntervalMs);
    this.#setInt(OPTION.RECONNECT_IVL_MAX, options.reconnectIntervalMaxMs);
    this.#setInt(OPTION.HEARTBEAT_IVL, options.heartbeatIntervalMs);
    this.#setInt(OPTION.HEARTBEAT_TIMEOUT, options.heartbeatTimeoutMs);
    if (options.maxMessageBytes !== undefined) {
      const bytes = options.curve ? encryptedBytes(options.maxMessageBytes) : options.maxMessageBytes;
      this.#setOption(OPTION.MAXMSGSIZE, new BigInt64Array([BigInt(bytes)]));
    }
    if (options.subscription !== undefined) this.#setOption(OPTION.SUBSCRIBE, options.subscription);
    if (options.curve) this.#encrypt(options.curve);
  }

  #encrypt(side: CurveSide): void {
    this.#setOption(OPTION.CURVE_SECRETKEY, toCString(side.secretKey));
    switch (side.role) {
      case "client":
        this.#setOption(OPTION.CURVE_PUBLICKEY, toCString(side.publicKey));
        this.#setOption(OPTION.CURVE_SERVERKEY, toCString(side.serverKey));
        break;
      case "server":
        this.#setInt(OPTION.CURVE_SERVER, 1);
        break;
    }
  }

  #setInt(option: number, value: number | undefined): void {
    if (value !== undefined) this.#setOption(option, new Int32Array([value]));
  }

  #setOption(option: number, value: NodeJS.TypedArray): void {
    const bytes = value.byteLength === 0 ? null : value;
    const result = this.#functions.zmq_setsockopt(this.handle, option, bytes, value.byteLength);
    this.#check(result, () => `set socket option ${option}`);
  }

  #readOption(option: number): number {
    const result = this.#functions.zmq_getsockopt(this.handle, option, this.#value, this.#valueBytes);
    this.#check(result, () => `read socket option ${option}`);
    return this.#value[0];
  }

  #check(result: number, describeAction: () => string): void {
    if (result !== 0) throw lastZmqError(this.#functions, describeAction());
  }
}
