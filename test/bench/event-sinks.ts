/** Where decoded events go when it is not the index: into memory for later, or into a checksum. */

import type { BlockRemoved, BlockStored, KvEventSink, SkipReason } from "#domain";
import type { Checksum } from "./checksum.ts";

/** Keeps copies of events, to be told again without any decoding. */
export class RecordingSink implements KvEventSink {
  readonly #events: ((sink: KvEventSink) => void)[] = [];

  /** Tells all events in their order. */
  tellTo(sink: KvEventSink): void {
    for (const tell of this.#events) tell(sink);
  }

  blockStored(event: BlockStored): void {
    const hashLanes = event.hashLanes.slice(0, event.hashCount * 2);
    const copy = { ...event, hashLanes, tokens: event.tokens.slice(0, event.tokenCount) };
    this.#events.push((sink) => sink.blockStored(copy));
  }

  blockRemoved(event: BlockRemoved): void {
    const copy = { ...event, hashLanes: event.hashLanes.slice(0, event.hashCount * 2) };
    this.#events.push((sink) => sink.blockRemoved(copy));
  }

  allBlocksCleared(): void {
    this.#events.push((sink) => sink.allBlocksCleared());
  }

  eventSkipped(reason: SkipReason): void {
    this.#events.push((sink) => sink.eventSkipped(reason));
  }
}

/** Looks at a little of each event, so that decoding it was not in vain. */
export class DigestingSink implements KvEventSink {
  readonly #checksum: Checksum;

  constructor(checksum: Checksum) {
    this.#checksum = checksum;
  }

  blockStored({ hashLanes, hashCount, tokens, tokenCount }: BlockStored): void {
    this.#checksum.add(hashCount, hashLanes[hashCount * 2 - 1], tokenCount, tokens[tokenCount - 1]);
  }

  blockRemoved({ hashLanes, hashCount }: BlockRemoved): void {
    this.#checksum.add(hashCount, hashLanes[hashCount * 2 - 1]);
  }

  allBlocksCleared(): void {
    this.#checksum.add(1);
  }

  eventSkipped(reason: SkipReason): void {
    throw new Error(`Cannot measure decoding: an event was skipped as ${reason}, a whole one is needed`);
  }
}
