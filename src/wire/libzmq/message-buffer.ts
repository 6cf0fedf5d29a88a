/**
 * Where messages are received: one allocation per thread, the frames of one message one behind the other. Every receive
 * overwrites it, so that a frame is valid until the next receive into the same buffer.
 *
 *   bytes   | topic | batch sequence | payload |  free  |
 *             ^ starts[0]  ^ starts[1] ^ starts[2]
 */

import { ptr } from "bun:ffi";
import { assert } from "#base";

/** No known message has more than 4 frames; later ones are counted and dropped. */
const KEPT_FRAMES = 8;

/** Room beside the largest payload for the frames around it: topic, batch sequence, delimiter. */
const ENVELOPE_BYTES = 4096;

export class MessageBuffer {
  readonly bytes: Uint8Array;
  /** Native address of `bytes`; valid as long as this object lives. */
  readonly address: number;
  readonly #starts = new Uint32Array(KEPT_FRAMES);
  readonly #lengths = new Uint32Array(KEPT_FRAMES);
  #frameCount = 0;
  #usedBytes = 0;

  /** Makes room for a message whose largest frame has `maxFrameBytes`. */
  constructor(maxFrameBytes: number) {
    // An explicit ArrayBuffer: small typed arrays otherwise live inside the collected heap until `.buffer` is asked for.
    this.bytes = new Uint8Array(new ArrayBuffer(maxFrameBytes + ENVELOPE_BYTES));
    this.address = ptr(this.bytes);
  }

  /** Frames of the message, also those that did not fit. */
  get frameCount(): number {
    return this.#frameCount;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get freeBytes(): number {
    return this.bytes.length - this.#usedBytes;
  }

  /** Forgets the last message. */
  clear(): void {
    this.#frameCount = 0;
    this.#usedBytes = 0;
  }

  /** Notes a frame of `length` bytes received at `usedBytes`; false when it did not fit and is lost. */
  append(length: number): boolean {
    const index = this.#frameCount++;
    if (index >= KEPT_FRAMES) return false;
    const keptBytes = Math.min(length, this.freeBytes);
    this.#starts[index] = this.#usedBytes;
    this.#lengths[index] = keptBytes;
    this.#usedBytes += keptBytes;
    return keptBytes === length;
  }

  /** Offset of frame `index` in `bytes`. */
  frameStart(index: number): number {
    return this.#lane(this.#starts, index);
  }

  frameLength(index: number): number {
    return this.#lane(this.#lengths, index);
  }

  /** A view of frame `index`. */
  frame(index: number): Uint8Array {
    const start = this.frameStart(index);
    return this.bytes.subarray(start, start + this.frameLength(index));
  }

  #lane(lane: Uint32Array, index: number): number {
    assert(index < Math.min(this.#frameCount, KEPT_FRAMES), "a frame is asked for by an index that the message has");
    return lane[index];
  }
}
