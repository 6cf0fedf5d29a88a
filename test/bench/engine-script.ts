/**
 * Batches as engines publish them, encoded beforehand: prompts of EVENTS_PER_PROMPT events with BLOCKS_PER_EVENT blocks each,
 * every event the continuation of the one before. No two prompts share a block, and prompt n is stream n's (modulo the streams).
 */

import { type EngineEvent, encodeBatch, SeededRandom, VOCABULARY_SIZE } from "#sim";
import { type EventForm, encodeStores } from "./event-forms.ts";

export const BLOCKS_PER_EVENT = 32;
export const EVENTS_PER_PROMPT = 8;
export const BLOCKS_PER_PROMPT = BLOCKS_PER_EVENT * EVENTS_PER_PROMPT;

export interface ScriptedBatch {
  stream: number;
  payload: Uint8Array;
}

export interface EngineScriptOptions {
  streams: number;
  blockSize: number;
}

/** What one event stores, and the event that takes the same blocks away. */
interface Step {
  stored: EngineEvent;
  removed: EngineEvent;
}

/** Apart from the seeds of other prompts in the same index. */
const FIRST_SEED = 1 << 30;

export class EngineScript {
  readonly #options: EngineScriptOptions;

  constructor(options: EngineScriptOptions) {
    this.#options = options;
  }

  /** Batches that store `prompts` prompts from number `first` on, in their order. */
  stores(first: number, prompts: number, eventsPerBatch: number): ScriptedBatch[] {
    return this.#batches(first, prompts, eventsPerBatch, (step) => step.stored);
  }

  /** As `stores`, in one of the forms of vLLM's events, 8 events of the map form's size in a batch. */
  storesAs(form: EventForm, first: number, prompts: number): ScriptedBatch[] {
    return Array.from({ length: prompts }, (_, n) => {
      const events = this.#steps(first + n).map(({ stored }) => stored);
      return { stream: (first + n) % this.#options.streams, payload: encodeStores(events, form) };
    });
  }

  /** Batches that remove what `stores` stored. */
  removals(first: number, prompts: number, eventsPerBatch: number): ScriptedBatch[] {
    return this.#batches(first, prompts, eventsPerBatch, (step) => step.removed);
  }

  /**
   * Batches to be applied over and over, as a full cache publishes them: each stores an event's blocks and removes as many of
   * the same stream. Once through, one prompt a stream stays resident.
   */
  turnover(): ScriptedBatch[] {
    const { streams } = this.#options;
    const prompts = Array.from({ length: 2 * streams }, (_, prompt) => this.#steps(prompt));
    return prompts.flatMap((steps, prompt) => {
      const leaving = prompts[(prompt + streams) % prompts.length];
      return steps.map(({ stored }, n) => this.#encode(prompt, [leaving[n].removed, stored]));
    });
  }

  #batches(first: number, prompts: number, eventsPerBatch: number, pick: (step: Step) => EngineEvent): ScriptedBatch[] {
    const batches: ScriptedBatch[] = [];
    for (let prompt = first; prompt < first + prompts; prompt++) {
      const events = this.#steps(prompt).map(pick);
      for (let from = 0; from < events.length; from += eventsPerBatch) {
        batches.push(this.#encode(prompt, events.slice(from, from + eventsPerBatch)));
      }
    }
    return batches;
  }

  #encode(prompt: number, events: EngineEvent[]): ScriptedBatch {
    return { stream: prompt % this.#options.streams, payload: encodeBatch(events, 0, 0) };
  }

  #steps(prompt: number): Step[] {
    const random = new SeededRandom(FIRST_SEED + prompt);
    const steps: Step[] = [];
    let parentHash: bigint | null = null;
    for (let n = 0; n < EVENTS_PER_PROMPT; n++) {
      const hashes = Array.from({ length: BLOCKS_PER_EVENT }, () => randomHash(random));
      const tokens = this.#tokens(random);
      steps.push({
        stored: { kind: "stored", tier: "device", hashes, parentHash, tokens, blockSize: this.#options.blockSize },
        removed: { kind: "removed", tier: "device", hashes },
      });
      parentHash = hashes[BLOCKS_PER_EVENT - 1];
    }
    return steps;
  }

  #tokens(random: SeededRandom): Uint32Array {
    const tokens = new Uint32Array(BLOCKS_PER_EVENT * this.#options.blockSize);
    for (let at = 0; at < tokens.length; at++) tokens[at] = random.integerBelow(VOCABULARY_SIZE);
    return tokens;
  }
}

function randomHash(random: SeededRandom): bigint {
  return (BigInt(random.nextUint32()) << 32n) | BigInt(random.nextUint32());
}
