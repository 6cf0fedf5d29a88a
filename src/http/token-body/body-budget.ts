/** Bodies that are being received, together: what is announced is set aside before any of it is read, and given back at the end. */

import { BODIES_BYTES_MAX, SERVER_BODY_BYTES_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";

export class BodyBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = BODIES_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Runs `receive` with room for a body of `announcedBytes`, or for the largest one where the length is not announced. Throws a 503
   * problem when the bodies under way leave no room.
   */
  async withRoom<Result>(announcedBytes: number | null, receive: () => Promise<Result>): Promise<Result> {
    const bytes = announcedBytes ?? SERVER_BODY_BYTES_MAX;
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new Problem("busy", {
        detail: `Cannot read the body: ${this.#bytes} bytes of other requests are on their way, at most ${this.#bytesMax} are taken at once`,
        headers: { "retry-after": "1" },
      });
    }
    this.#bytes += bytes;
    try {
      return await receive();
    } finally {
      this.#bytes -= bytes;
    }
  }
}
