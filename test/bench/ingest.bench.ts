/** How many blocks a second one thread takes in from encoded batches, into an index that is full already. */

import { XllmDialect } from "#wire";
import { Checksum } from "./checksum.ts";
import { BLOCKS_PER_EVENT, EVENTS_PER_PROMPT, type ScriptedBatch } from "./engine-script.ts";
import { EVENT_FORMS, type EventForm } from "./event-forms.ts";
import { DigestingSink, RecordingSink } from "./event-sinks.ts";
import { grouped } from "./grouped.ts";
import { IngestScene } from "./ingest-scene.ts";
import { type Answer, atLeast, defineGroup, type Question, type Target } from "./question.ts";
import type { Scale } from "./scale.ts";

const BLOCK_SIZE = 16;
const WANTED = atLeast(1_000_000);

export const ingest = defineGroup<IngestScene>({
  open: (scale) => IngestScene.open(scale, BLOCK_SIZE),
  close: async () => {},
  questions,
});

function questions({ indexBlocks }: Scale): Question<IngestScene>[] {
  const blocks = `${BLOCK_SIZE}-token blocks, ${BLOCKS_PER_EVENT} per event`;
  const into = `into ${grouped(indexBlocks)} blocks`;
  return [
    { what: `ingest of ${blocks}, 1 event per batch, ${into}`, measure: async (scene) => stores(scene, 1, WANTED) },
    {
      what: `ingest of ${blocks}, ${EVENTS_PER_PROMPT} events per batch, ${into}`,
      measure: async (scene) => stores(scene, EVENTS_PER_PROMPT, WANTED),
    },
    ...EVENT_FORMS.map((form) => ({
      what: `ingest of ${BLOCK_SIZE}-token blocks in vLLM's ${form.name}, 256 blocks per batch, ${into}`,
      measure: async (scene: IngestScene) => storesAs(scene, form),
    })),
    { what: `removal of ${blocks}, ${into}`, measure: async (scene) => removals(scene) },
    { what: `decoding alone of ${blocks}`, measure: async (scene) => decoding(scene) },
    { what: `applying alone of ${blocks}, ${into}`, measure: async (scene) => applying(scene) },
  ];
}

function stores(scene: IngestScene, eventsPerBatch: number, target: Target): Answer {
  let batches: ScriptedBatch[] = [];
  return scene.measure(
    {
      prepare: (first, prompts) => {
        batches = scene.script.stores(first, prompts, eventsPerBatch);
      },
      run: () => scene.ingest(batches),
      undo: (first, prompts) => scene.remove(first, prompts),
    },
    target,
  );
}

function storesAs(scene: IngestScene, form: EventForm): Answer {
  let batches: ScriptedBatch[] = [];
  return scene.measure(
    {
      prepare: (first, prompts) => {
        batches = scene.script.storesAs(form, first, prompts);
      },
      run: () => scene.ingest(batches),
      undo: (first, prompts) => scene.remove(first, prompts),
    },
    form.blocks === "run" ? WANTED : null,
  );
}

function removals(scene: IngestScene): Answer {
  let batches: ScriptedBatch[] = [];
  return scene.measure({
    prepare: (first, prompts) => {
      scene.ingest(scene.script.stores(first, prompts, EVENTS_PER_PROMPT));
      batches = scene.script.removals(first, prompts, 1);
    },
    run: () => scene.ingest(batches),
    undo: () => {},
  });
}

/** The share of ingest that goes into reading MessagePack. */
function decoding(scene: IngestScene): Answer {
  const dialect = new XllmDialect();
  let batches: ScriptedBatch[] = [];
  const decoded = new Checksum();
  const sink = new DigestingSink(decoded);
  const { figures } = scene.measure({
    prepare: (_first, prompts) => {
      batches = scene.script.stores(0, prompts, 1);
    },
    run: () => {
      for (const { payload } of batches) dialect.decode(payload, sink);
    },
    undo: () => {},
  });
  return { figures, checksum: decoded.toString() };
}

/** The share of ingest that goes into hashing contents and into the tables. */
function applying(scene: IngestScene): Answer {
  const dialect = new XllmDialect();
  let batches: { stream: number; events: RecordingSink }[] = [];
  return scene.measure({
    prepare: (first, prompts) => {
      batches = scene.script.stores(first, prompts, 1).map(({ stream, payload }) => {
        const events = new RecordingSink();
        dialect.decode(payload, events);
        return { stream, events };
      });
    },
    run: () => {
      for (const { stream, events } of batches) {
        scene.index.writer.apply(stream, scene.nextBatchSeq(), (sink) => events.tellTo(sink));
      }
    },
    undo: (first, prompts) => scene.remove(first, prompts),
  });
}
