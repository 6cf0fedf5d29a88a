/** What is seen of the service while everything goes on, and the comparison of the first minute's samples with the last ones. */

import { type Allowance, format, mayGrow, type Quantity, type Unit } from "./comparison.ts";
import type { ExpositionFigures } from "./exposition-figures.ts";
import { type Strictness, scrape } from "./look.ts";
import { type ProcessFigures, readProcess } from "./process-figures.ts";
import type { ServiceProcess } from "./service-process.ts";

export interface Sample {
  process: ProcessFigures;
  exposition: ExpositionFigures;
}

export async function takeSample(service: ServiceProcess): Promise<Sample> {
  return { process: readProcess(service.pid), exposition: await scrape(service) };
}

export function describeSample({ process, exposition }: Sample): string {
  const { instanceSeries, otherSeries, indexEntries, indexUsedBytes, eventLoopDelaySeconds } = exposition;
  return [
    describeProcess(process),
    `${instanceSeries} + ${otherSeries} series`,
    `${indexEntries} blocks in ${format(indexUsedBytes, "bytes")}`,
    `event loop late by ${format(eventLoopDelaySeconds, "seconds")} s`,
  ].join(", ");
}

export function describeProcess({ rssBytes, anonymousBytes, openFiles, threads }: ProcessFigures): string {
  return `RSS ${format(rssBytes, "bytes")}, anonymous ${format(anonymousBytes, "bytes")}, ${openFiles} files, ${threads} threads`;
}

/** The most of the first churn, and the middle of the last third of the second, which no single coincidence makes. */
export function compareSamples(first: readonly Sample[], second: readonly Sample[], strictness: Strictness): Quantity[] {
  const last = second.slice(-Math.ceil(second.length / 3));
  const quantity = (name: string, unit: Unit, allowance: Allowance, read: (sample: Sample) => number): Quantity => {
    const before = Math.max(...first.map(read));
    const after = last.map(read).toSorted((one, other) => one - other)[last.length >> 1] ?? 0;
    return { name: `under way: ${name}`, unit, allowance, before, after };
  };
  const memory = mayGrow(strictness.memoryShare, strictness.memoryBytes, "garbage not collected yet");
  return [
    quantity("resident memory", "bytes", memory, ({ process }) => process.rssBytes),
    quantity("open files", "count", mayGrow(0.25, 10, "chance"), ({ process }) => process.openFiles),
    quantity("threads", "count", mayGrow(0, 4, "pools that fill when there is work"), ({ process }) => process.threads),
    quantity("event loop late by", "seconds", mayGrow(1, 0.2, "what else the machine does"), ({ exposition }) => {
      return exposition.eventLoopDelaySeconds;
    }),
  ];
}
