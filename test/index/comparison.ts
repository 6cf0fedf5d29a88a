/** Tells the kernel and the reference the same, and compares what they answer. */

import { type Coverage, type Namespace, type Unsynchronized, type UnsynchronizedReason, unsynchronized } from "#domain";
import type { BatchKind, WrittenStream } from "#index";
import type { ReadStream } from "../support/read-stream.ts";
import { ReferenceIndex } from "../support/reference-index.ts";
import { type Announcement, clear } from "./announcements.ts";
import type { IndexScene } from "./scene.ts";
import type { BatchPlan, EventPlan, Family } from "./sequences.ts";

/** What happened, to know that the sequences reach what they are for. */
export class Outcomes {
  commits = 0;
  incomplete = 0;
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
      { id: 0, blockSize, hashSeed: 1024, counted: false, strict: true },
      { id: 63, blockSize, hashSeed: 1024, counted: true, strict: false },
      { id: 64, blockSize, hashSeed: 1024, counted: false, strict: true },
      { id: 127, blockSize, hashSeed: 7, counted: true, strict: false },
    ];
    for (const stream of this.#streams) this.#open(stream);
  }

  perform(plan: BatchPlan): void {
    const stream = this.#streams[plan.stream];
    switch (plan.kind) {
      case "changes":
      case "known-part":
      case "state":
        this.#batch(stream, this.#possible(stream, plan.kind), plan.events, coverageOf(plan.kind));
        break;
      case "snapshot":
        this.#snapshot(stream, plan.events);
        break;
      case "resume":
        this.#catchUp(stream, this.#possible(stream, "changes"), plan.events);
        break;
      case "rejoin":
        this.#fail(stream, unsynchronized("disconnected"));
        this.#scene.writer.forget(stream);
        this.#reference.forget(stream);
        this.#catchUp(stream, "known-part", plan.events);
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
    const { prompts, namespaces } = this.#family.forest;
    for (const tokens of prompts) {
      for (const namespace of namespaces) {
        for (const stream of this.#streams) this.#compareAnswers(stream, tokens, namespace);
      }
    }
  }

  close(): void {
    for (const stream of this.#streams) this.#close(stream);
  }

  #compareAnswers(stream: WrittenStream, tokens: Uint32Array, namespace: Namespace | null): void {
    const found = this.#scene.match(stream, tokens, namespace);
    const expected = this.#reference.match(stream.id, tokens, namespace);
    this.#outcomes.hitBlocks += hitBlocks(found);
    if (this.#family.aliases ? isWithin(found, expected) : Bun.deepEquals(found, expected)) return;
    const question = { stream: stream.id, prompt: this.#family.forest.prompts.indexOf(tokens), namespace };
    throw new Error(JSON.stringify({ question, found, expected }));
  }

  /** A stream that is not synchronized takes nothing but a whole state, or what follows from nothing. */
  #possible(stream: WrittenStream, kind: BatchKind): BatchKind {
    return this.#reference.isSynchronized(stream.id) ? kind : "state";
  }

  #batch(stream: WrittenStream, kind: BatchKind, events: readonly EventPlan[], end: Coverage | "keep"): boolean {
    this.#begin(stream, kind);
    this.#tell(events);
    return this.#end(stream, end);
  }

  #snapshot(stream: WrittenStream, events: readonly EventPlan[]): void {
    const half = events.length >> 1;
    this.#begin(stream, "state");
    this.#tell(events.slice(0, half));
    this.#batchSeq += 1;
    this.#scene.writer.continueWithChanges(this.#batchSeq);
    this.#reference.continueWithChanges(this.#batchSeq);
    this.#tell(events.slice(half));
    this.#end(stream, "full");
  }

  /** Two batches of a stream that is out of sight until the second is shown. */
  #catchUp(stream: WrittenStream, kind: BatchKind, events: readonly EventPlan[]): void {
    const half = events.length >> 1;
    this.#fail(stream, unsynchronized("disconnected"));
    if (!this.#batch(stream, kind, events.slice(0, half), "keep")) return;
    this.#compareAnswers(stream, this.#family.forest.prompts[0], null);
    this.#batch(stream, kind === "state" ? "changes" : kind, events.slice(half), "partial");
  }

  #begin(stream: WrittenStream, kind: BatchKind): void {
    this.#batchSeq += 1;
    this.#scene.begin(stream, kind, this.#batchSeq, []);
    this.#reference.begin(stream, kind, this.#batchSeq);
  }

  #tell(events: readonly EventPlan[]): void {
    for (const event of events) {
      const announce = this.#announcement(event);
      announce(this.#scene.writer);
      announce(this.#reference);
    }
  }

  /** Commits, keeps or fails the batch, false for the latter; throws when the kernel and the reference disagree about it. */
  #end(stream: WrittenStream, end: Coverage | "keep"): boolean {
    const [found, expected] = [notesOf(this.#scene.writer), notesOf(this.#reference)];
    if (!Bun.deepEquals(found, expected)) throw new Error(JSON.stringify({ stream: stream.id, found, expected }));
    if (expected.problem !== null) {
      this.#fail(stream, expected.problem);
      this.#outcomes.problems.add(expected.problem.reason);
      return false;
    }
    const { writer } = this.#scene;
    const problem = end === "keep" ? writer.keep(this.#batchSeq) : writer.commit(this.#batchSeq, end);
    if (problem !== null) throw new Error(`Stream ${stream.id}: the commit found no memory`);
    if (end === "keep") this.#reference.keep(this.#batchSeq);
    else this.#reference.commit(this.#batchSeq, end);
    this.#outcomes.commits++;
    if (expected.isIncomplete) this.#outcomes.incomplete++;
    return true;
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

function coverageOf(kind: "changes" | "known-part" | "state"): Coverage {
  return kind === "known-part" ? "partial" : "full";
}

interface BatchNotes {
  readonly problem: Unsynchronized | null;
  readonly isIncomplete: boolean;
  readonly wasCleared: boolean;
}

/** What is said of a batch before its end; after a problem only that counts. */
function notesOf({ problem, isIncomplete, wasCleared }: BatchNotes): BatchNotes {
  return problem === null ? { problem, isIncomplete, wasCleared } : { problem, isIncomplete: true, wasCleared: false };
}
