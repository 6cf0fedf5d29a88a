/** What there is to say of the batch at hand: the problem it cannot go on with, and what was left out of it. */

import { SKIP_REASONS, type SkipReason, type Unsynchronized, unsynchronized } from "#domain";

/** What a batch is to the stream. */
export type BatchKind =
  /** Changes to the state that the stream has; a block whose parent is unknown is a problem. */
  | "changes"
  /** Changes to a state known in part; a block whose parent is unknown is left out with its descendants. */
  | "known-part"
  /** The whole state, parents first; a block whose parent is missing is left out with its descendants. */
  | "state";

export class BatchNotes {
  #kind: BatchKind = "changes";
  #batchSeq = 0;
  #isStrict = true;
  #skipped: Uint32Array = new Uint32Array(SKIP_REASONS.length);
  #problem: Unsynchronized | null = null;
  #isIncomplete = false;
  #wasCleared = false;
  #leftOut: Unsynchronized | null = null;

  /** Begins anew; events left out are added to `skipped` by reason, in the order of SKIP_REASONS. */
  begin(kind: BatchKind, batchSeq: number, isStrict: boolean, skipped: Uint32Array): void {
    this.#kind = kind;
    this.#batchSeq = batchSeq;
    this.#isStrict = isStrict;
    this.#skipped = skipped;
    this.#problem = null;
    this.#isIncomplete = false;
    this.#wasCleared = false;
    this.#leftOut = null;
  }

  continueWithChanges(batchSeq: number): void {
    this.#kind = "changes";
    this.#batchSeq = batchSeq;
  }

  /** The first thing that went wrong. */
  get problem(): Unsynchronized | null {
    return this.#problem;
  }

  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  /** What was wrong with the store that was left out last, where that has numbers to tell. */
  get leftOut(): Unsynchronized | null {
    return this.#leftOut;
  }

  get wasCleared(): boolean {
    return this.#wasCleared;
  }

  fail(problem: Unsynchronized): void {
    this.#problem ??= problem;
  }

  /** What came before no longer matters. */
  clear(): void {
    this.#isIncomplete = false;
    this.#wasCleared = true;
  }

  /** A store is left out whose blocks the engine holds; in a strict stream that is the problem given, if any. */
  leaveOut(reason: SkipReason, problem: Unsynchronized | null): void {
    this.#count(reason);
    this.#isIncomplete = true;
    this.#leftOut = problem ?? this.#leftOut;
    if (this.#isStrict && problem !== null) this.fail(problem);
  }

  /** The decoder left an event out. */
  skip(reason: SkipReason): void {
    const problem = unsynchronized("event-malformed", this.#batchSeq);
    if (reason === "malformed-event") this.leaveOut(reason, problem);
    else this.#count(reason);
    // A block that has left may stay in the index: no stream can go on with that.
    if (reason === "malformed-removal") this.fail(problem);
  }

  /** A store is left out whose parent the stream does not know. */
  missParent(): void {
    switch (this.#kind) {
      case "changes":
        this.fail(unsynchronized("unknown-parent", this.#batchSeq));
        break;
      case "known-part":
        this.leaveOut("unknown-parent", null);
        break;
      case "state":
        // A snapshot that lists a child without its parent is whole all the same: nothing can reach the child.
        if (this.#isStrict) this.#count("orphan");
        else this.leaveOut("orphan", null);
        break;
    }
  }

  #count(reason: SkipReason): void {
    this.#skipped[SKIP_REASONS.indexOf(reason)]++;
  }
}
