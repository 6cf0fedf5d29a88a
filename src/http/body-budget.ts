/** Bodies that are being received, together: what they take is set aside before it is read, and given back at the end. */

import { overloaded } from "./problem.ts";

/** Sets so many further bytes aside; throws a 503 problem when the bodies under way leave no room for them. */
type TakeRoom = (bytes: number) => void;

export class BodyBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Runs `receive` with room for `bytes`; a body that does not say how long it is takes further room as it arrives. Throws a 503
   * problem when there is none.
   */
  async withRoom<Result>(bytes: number, receive: (takeRoom: TakeRoom) => Promise<Result>): Promise<Result> {
    let taken = 0;
    const takeRoom: TakeRoom = (more) => {
      if (this.#bytes + more > this.#bytesMax) throw this.#noRoom();
      this.#bytes += more;
      taken += more;
    };
    try {
      takeRoom(bytes);
      return await receive(takeRoom);
    } finally {
      this.#bytes -= taken;
    }
  }

  #noRoom() {
    const found = `${this.#bytes} bytes of other requests are on their way`;
    return overloaded(`Cannot read the body: ${found}, at most ${this.#bytesMax} are taken at once`);
  }
}
