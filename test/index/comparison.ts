/** Tells the kernel and the reference the same, and compares what they answer. */

import { type Unsynchronized, type UnsynchronizedReason, unsynchronized } from "#domain";
import type { WrittenStream } from "#index";
import type { ReadStream } from "../support/read-stream.ts";
import { ReferenceIndex } from "../support/reference-index.ts";
import { type Announcement, clear } from "./announcements.ts";
import type { IndexScene } from "./scene.ts";
import type { BatchPlan, EventPlan, Family } from "./sequences.ts";

/** What happened, to know that the sequences reach what they are for. */
export class Outcomes {
  commits = 0;
  hitBlocks = 0;
  readonly problems = new Set<UnsynchronizedReason>();
}

export class Comparison {
  readonly #scene: IndexScene;
  readonly #family: Family;
  readonly #outcomes: Outcomes;
  readonly #reference: ReferenceIndex;
  readonly #streams: readonly WrittenStream[];
  #batchSeq = 0;

  constructor(scene: IndexScene, family: Family, outcomes: Outcomes) {
    this.#scene = scene;
    this.#family = family;
    this.#outcomes = outcomes;
    this.#reference = new ReferenceIndex(family.blocksMax);
    const { blockSize } = family.forest;
    this.#streams = [
      { id: 0, blockSize, hashSeed: 1024, counted: false },
      { id: 63, blockSize, hashSeed: 1024, counted: true },
      { id: 64, blockSize, hashSeed: 1024, counted: false },
      { id: 127, blockSize, hashSeed: 7, counted: true },
    ];
    for (const stream of this.#streams) this.#open(stream);
  }

  perform(plan: BatchPlan): void {
    const stream = this.#streams[plan.stream];
    switch (plan.kind) {
      case "changes":
      case "state":
      case "snapshot":
        this.#batch(stream, plan.kind, plan.events);
        break;
      case "fail":
        this.#fail(stream, unsynchronized("disconnected"));
        break;
      case "reopen":
        this.#close(stream);
        this.#open(stream);
        break;
    }
  }

  /** Throws when an answer of the kernel's is not the reference's. */
  compare(): void {
    const { prompts } = this.#family.forest;
    for (const [prompt, tokens] of prompts.entries()) {
      for (const stream of this.#streams) {
        const found = this.#scene.match(stream, tokens);
        const expected = this.#reference.match(stream.id, tokens);
        this.#outcomes.hitBlocks += hitBlocks(found);
        if (this.#family.aliases ? isWithin(found, expected) : Bun.deepEquals(found, expected)) continue;
        throw new Error(`Stream ${stream.id}, prompt ${prompt}: ${JSON.stringify({ found, expected })}`);
      }
    }
  }

  close(): void {
    for (const stream of this.#streams) this.#close(stream);
  }

  #batch(stream: WrittenStream, plan: "changes" | "state" | "snapshot", events: readonly EventPlan[]): void {
    // A stream that is not synchronized takes nothing but a whole state, as its owner does.
    const kind = plan === "changes" && this.#reference.isSynchronized(stream.id) ? "changes" : "state";
    const stateEvents = plan === "snapshot" ? events.length >> 1 : events.length;
    this.#batchSeq += 1;
    this.#scene.begin(stream, kind, this.#batchSeq, []);
    this.#reference.begin(stream, kind, this.#batchSeq);
    for (const [n, event] of events.entries()) {
      if (n === stateEvents) {
        this.#batchSeq += 1;
        this.#scene.writer.continueWithChanges(this.#batchSeq);
        this.#reference.continueWithChanges(this.#batchSeq);
      }
      const announce = this.#announcement(event);
      announce(this.#scene.writer);
      announce(this.#reference);
    }
    this.#end(stream);
  }

  /** Commits or fails the batch; throws when the kernel and the reference do not see the same problem. */
  #end(stream: WrittenStream): void {
    const { writer } = this.#scene;
    const { problem } = this.#reference;
    if (!Bun.deepEquals(writer.problem, problem)) {
      throw new Error(`Stream ${stream.id}: ${JSON.stringify({ found: writer.problem, expected: problem })}`);
    }
    if (problem !== null) {
      this.#fail(stream, problem);
      this.#outcomes.problems.add(problem.reason);
      return;
    }
    if (writer.commit(this.#batchSeq) !== null) throw new Error(`Stream ${stream.id}: the commit found no memory`);
    this.#reference.commit(this.#batchSeq);
    this.#outcomes.commits++;
  }

  #fail(stream: WrittenStream, reason: Unsynchronized): void {
    this.#scene.writer.fail(stream, reason);
    this.#reference.fail(stream, reason);
  }

  #announcement({ kind, stretch, tier, disguised }: EventPlan): Announcement {
    const { forest } = this.#family;
    switch (kind) {
      case "store":
        return forest.stored(stretch, tier, disguised);
      case "store-known":
        return forest.storedWithoutTokens(stretch, tier);
      case "remove":
        return forest.removed(stretch, tier, disguised);
      case "clear":
        return clear;
      case "wrong-size":
        return forest.storedInBlocksOf(forest.blockSize + 1, tier);
    }
  }

  #open(stream: WrittenStream): void {
    this.#scene.writer.openStream(stream, unsynchronized("not-connected"));
    this.#reference.openStream(stream, unsynchronized("not-connected"));
  }

  #close(stream: WrittenStream): void {
    this.#scene.writer.closeStream(stream);
    this.#reference.closeStream(stream);
  }
}

function hitBlocks({ deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks }: ReadStream): number {
  return deviceHitBlocks + hostOnlyHitBlocks + diskOnlyHitBlocks;
}

/** Whether the answer reports no more than is held, and is right in all but the hits. */
function isWithin(found: ReadStream, held: ReadStream): boolean {
  const { deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks } = found;
  const withHits = { ...held, deviceHitBlocks, hostOnlyHitBlocks, diskOnlyHitBlocks };
  return Bun.deepEquals(found, withHits) && hitBlocks(found) <= hitBlocks(held) && deviceHitBlocks <= held.deviceHitBlocks;
}
