/**
 * Waits for messages on many sockets of one thread. zmq_poll is given the sockets' file descriptors, not the sockets: asked
 * about sockets it makes a system call for each (190 us for 400 idle ones), asked about descriptors one for all (24 us). The
 * sockets that the descriptors cannot speak for (`mayBeReadable`) are looked at before each wait.
 *
 *   zmq_pollitem_t, 16 bytes:  socket u64 = 0 | descriptor i32 | events i16 | returned events i16
 */

import { ptr } from "bun:ffi";
import { assert } from "#base";
import { type LibzmqFunctions, lastZmqError } from "./binding.ts";
import { POLLIN } from "./constants.ts";
import { EINTR } from "./errors.ts";
import { loadLibzmq } from "./locate.ts";
import type { ZmqSocket } from "./socket.ts";

const ITEM_BYTES = 16;
const DESCRIPTOR_OFFSET = 8;
const EVENTS_OFFSET = 12;
const RETURNED_OFFSET = 14;

/** 128 streams with subscriber, recovery client and a monitor for each are 512; the rest is for wake-ups and tests. */
const DEFAULT_CAPACITY = 1024;

/** `Owner` is what the caller wants to be told about a ready socket. */
export class Poller<Owner> {
  readonly #functions: LibzmqFunctions = loadLibzmq().functions;
  readonly #capacity: number;
  readonly #items: DataView<ArrayBuffer>;
  readonly #address: ReturnType<typeof ptr>;
  readonly #entries: { socket: ZmqSocket; owner: Owner }[] = [];
  readonly #ready: Owner[] = [];

  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
    this.#items = new DataView(new ArrayBuffer(capacity * ITEM_BYTES));
    this.#address = ptr(this.#items);
  }

  get socketCount(): number {
    return this.#entries.length;
  }

  /** Watches `socket`. Adding more than the capacity, or one twice, breaks an invariant. */
  add(socket: ZmqSocket, owner: Owner): void {
    assert(this.#entries.length < this.#capacity, `a poller watches at most ${this.#capacity} sockets`);
    assert(this.#indexOf(socket) < 0, "a poller watches a socket once");
    this.#entries.push({ socket, owner });
    this.#writeItem(this.#entries.length - 1, socket.fileDescriptor);
  }

  /** Lets go of `socket`, which must still be open; one that is not watched is ignored. */
  remove(socket: ZmqSocket): void {
    const index = this.#indexOf(socket);
    const moved = this.#entries.at(-1);
    if (index < 0 || moved === undefined) return;
    this.#entries[index] = moved;
    this.#writeItem(index, moved.socket.fileDescriptor);
    this.#entries.pop();
  }

  /**
   * Waits until a socket has a message or `timeoutMs` have passed (0 and less: only looks; it must be finite) and returns the
   * owners of the readable ones, in an array that the next call reuses. It may return early with none: a signal to the process or
   * to libzmq alone ends the wait too.
   */
  wait(timeoutMs: number): readonly Owner[] {
    assert(Number.isFinite(timeoutMs), "a poller waits for a limited time");
    let hasReady = false;
    for (const { socket } of this.#entries) {
      if (socket.mayBeReadable && socket.checkReadable()) hasReady = true;
    }
    const limitMs = hasReady ? 0 : Math.max(0, Math.ceil(timeoutMs)); // libzmq waits for ever when it is negative
    const signalled = this.#functions.zmq_poll(this.#address, this.#entries.length, limitMs);
    if (signalled < 0 && this.#functions.zmq_errno() !== EINTR) throw lastZmqError(this.#functions, "poll sockets");
    this.#ready.length = 0;
    let index = 0;
    for (const { socket, owner } of this.#entries) {
      if (signalled > 0 && this.#isSignalled(index)) socket.checkReadable();
      if (socket.mayBeReadable) this.#ready.push(owner);
      index += 1;
    }
    return this.#ready;
  }

  #isSignalled(index: number): boolean {
    return this.#items.getInt16(index * ITEM_BYTES + RETURNED_OFFSET, true) !== 0;
  }

  #writeItem(index: number, fileDescriptor: number): void {
    this.#items.setInt32(index * ITEM_BYTES + DESCRIPTOR_OFFSET, fileDescriptor, true);
    this.#items.setInt16(index * ITEM_BYTES + EVENTS_OFFSET, POLLIN, true);
    this.#items.setInt16(index * ITEM_BYTES + RETURNED_OFFSET, 0, true);
  }

  #indexOf(socket: ZmqSocket): number {
    return this.#entries.findIndex((entry) => entry.socket === socket);
  }
}
