/** How soon a new process answers its first query; the index kernel has been built before. */

import { startWarmpath, writeKvEventsFile } from "../end-to-end/warmpath-process.ts";
import { Checksum } from "./checksum.ts";
import { medianFigure } from "./figures.ts";
import { fetchAnswer } from "./query-request.ts";
import { type Answer, atMost, defineGroup } from "./question.ts";
import type { Scale } from "./scale.ts";

/** A stream whose publisher does not exist: it is set up all the same, and says why it has nothing. */
const STREAMS = [{ instance_name: "engine-0:8000", endpoint: "tcp://127.0.0.1:9", replay_endpoint: "tcp://127.0.0.1:10" }];

/** Far above what a start takes. */
const START_TIMEOUT_MS = 10_000;

export const start = defineGroup<Scale>({
  open: async (scale) => scale,
  close: async () => {},
  questions: () => [{ what: "start of the process to the first answer, one stream", measure: measureStarts }],
});

async function measureStarts({ starts }: Scale): Promise<Answer> {
  const durations: number[] = [];
  const checksum = new Checksum();
  for (let n = 0; n < starts; n++) {
    const { ms, answer } = await startOnce();
    durations.push(ms);
    checksum.add(...Buffer.from(answer));
  }
  return { figures: [medianFigure(durations, "ms", atMost(300))], checksum: checksum.toString() };
}

async function startOnce(): Promise<{ ms: number; answer: string }> {
  const flags = ["--kv-events-config-file", await writeKvEventsFile({ streams: STREAMS })];
  const startedAtMs = performance.now();
  const warmpath = startWarmpath(flags);
  const port = await warmpath.port;
  while (performance.now() - startedAtMs < START_TIMEOUT_MS) {
    const response = await fetchAnswer(port, Uint32Array.of(1));
    if (response.status === 200) {
      const ms = performance.now() - startedAtMs;
      warmpath.signal("SIGTERM");
      await warmpath.exitCode;
      return { ms, answer: await response.text() };
    }
    await Bun.sleep(1);
  }
  throw new Error(`Cannot measure the start: no answer within ${START_TIMEOUT_MS} ms`);
}
