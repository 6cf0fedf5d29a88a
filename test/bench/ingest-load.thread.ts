/** The load's thread: one order in, then batches at the ordered pace until it is told to stop. */

import { assert } from "#base";
import { CorpusWriter } from "./corpus-writer.ts";
import { BLOCKS_PER_EVENT, EngineScript } from "./engine-script.ts";
import { CONTROL, type LoadOrder, type Pace } from "./ingest-load.ts";
import { PromptCorpus } from "./prompt-corpus.ts";

declare const self: Worker;

/** What the thread sleeps on; nobody wakes it. */
const NAP = new Int32Array(new SharedArrayBuffer(4));

self.onmessage = ({ data: order }: MessageEvent<LoadOrder>) => {
  run(order);
  process.exit(0); // ends this thread only
};

function run({ index, corpus, pace, control }: LoadOrder): void {
  const words = new Int32Array(control);
  const targets = new CorpusWriter(new PromptCorpus(corpus), index).streamIndexes();
  const batches = new EngineScript(corpus).turnover();
  const startedAtMs = performance.now();
  for (let applied = 0; Atomics.load(words, CONTROL.IS_STOPPING) === 0; applied++) {
    if (applied === batches.length) self.postMessage("started");
    waitForTurn(applied, pace, startedAtMs);
    const { stream, payload } = batches[applied % batches.length];
    assert(targets[stream].apply(applied + 1, payload) === null, "the batch is applied");
    Atomics.add(words, CONTROL.BLOCKS_STORED, BLOCKS_PER_EVENT);
  }
}

/** Sleeps until batch number `applied` is due. */
function waitForTurn(applied: number, pace: Pace, startedAtMs: number): void {
  if (pace === "full-speed") return;
  const dueAtMs = startedAtMs + (applied * BLOCKS_PER_EVENT * 1000) / pace;
  const earlyMs = dueAtMs - performance.now();
  if (earlyMs > 0) Atomics.wait(NAP, 0, 0, earlyMs);
}
