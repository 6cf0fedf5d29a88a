/** The clearing thread: fills its stream, waits for the word, clears it, and begins again. */

import { type ClearingOrder, CONTROL, PHASE } from "./clearing.ts";
import { CorpusWriter } from "./corpus-writer.ts";
import { PromptCorpus } from "./prompt-corpus.ts";

declare const self: Worker;

self.onmessage = ({ data: order }: MessageEvent<ClearingOrder>) => {
  run(order);
  process.exit(0); // ends this thread only
};

function run({ index, corpus: options, stream, blocks, control }: ClearingOrder): void {
  const words = new Int32Array(control);
  const corpus = new PromptCorpus(options);
  const writer = new CorpusWriter(corpus, index);
  const blocksPerPrompt = corpus.promptTokens / corpus.blockSize;
  for (;;) {
    for (let n = 0; n < blocks / blocksPerPrompt; n++) {
      writer.store(corpus.promptCount + n, { stream, blocks: blocksPerPrompt, tier: "device" });
    }
    Atomics.store(words, CONTROL.PHASE, PHASE.FILLED);
    Atomics.wait(words, CONTROL.PHASE, PHASE.FILLED);
    if (Atomics.load(words, CONTROL.PHASE) === PHASE.ENDING) return;
    const startedAtMs = performance.now();
    writer.apply(stream, 1, (sink) => sink.allBlocksCleared());
    Atomics.store(words, CONTROL.CLEARING_US, Math.round((performance.now() - startedAtMs) * 1000));
    Atomics.store(words, CONTROL.PHASE, PHASE.FILLING);
  }
}
