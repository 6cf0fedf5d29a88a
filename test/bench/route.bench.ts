/** What it costs to decide where a request goes: in the router alone, and over HTTP, asked by a client in another process. */

import { assert } from "#base";
import type { Router } from "#routing";
import { Checksum } from "./checksum.ts";
import { runProcess } from "./child-process.ts";
import { measureLatency } from "./figures.ts";
import { grouped } from "./grouped.ts";
import type { ClientOrder, ClientReport } from "./http-client.process.ts";
import { type Answer, atMost, defineGroup, type Target } from "./question.ts";
import { RoutedFleet } from "./routed-fleet.ts";
import { RoutedService } from "./routed-service.ts";
import type { Scale } from "./scale.ts";

const BLOCK_SIZE = 128;
const PROMPT_TOKENS = 4096;

/** Prompts follow each other at this distance: prime to their number, so that all get their turn and none is in the caches. */
const PROMPT_STRIDE = 7919;

/** Enough that the server never waits for a client that is between two requests. */
const CONNECTIONS = 4;

const WARM_UP_SHARE = 1 / 4;

interface Fixture {
  fleet: RoutedFleet;
  scale: Scale;
}

export const route = defineGroup<Fixture>({
  open: async (scale) => {
    const { indexBlocks: blocks, streams } = scale;
    const corpus = { blockSize: BLOCK_SIZE, promptTokens: PROMPT_TOKENS, blocks, streams, holders: 4 };
    return { fleet: await RoutedFleet.create(corpus), scale };
  },
  close: async () => {},
  questions: (scale) => {
    const what = `${decisionOver(scale)}, without HTTP`;
    const everything = ["--track-inflight", "--predict-residency-ms=500"];
    return [
      { what, measure: (fixture) => measureDecisions(fixture, [], { p50: atMost(30) }) },
      {
        what: `${what}, with in-flight requests and predicted residency`,
        measure: (fixture) => measureDecisions(fixture, everything, {}),
      },
    ];
  },
});

interface ServedFixture {
  service: RoutedService;
  scale: Scale;
}

export const routeOverHttp = defineGroup<ServedFixture>({
  open: async (scale) => ({ service: await RoutedService.start(scale.streams, PROMPT_TOKENS), scale }),
  close: ({ service }) => service.stop(),
  questions: (scale) => {
    const what = `${decisionOver(scale)}, over HTTP as JSON, ${CONNECTIONS} connections of one client`;
    return [
      { what: `${what}, every candidate listed`, measure: (fixture) => measureRequests(fixture, "true") },
      { what: `${what}, none listed`, measure: (fixture) => measureRequests(fixture, "false") },
    ];
  },
});

function decisionOver({ streams }: Scale): string {
  return `route decision over ${streams} instances, ${grouped(PROMPT_TOKENS)} tokens`;
}

async function measureDecisions({ fleet, scale }: Fixture, flags: readonly string[], targets: { p50?: Target }): Promise<Answer> {
  const checksum = fleet.checkDecisions(await fleet.router(flags));
  const { prepare, decide } = decideNext(fleet, await fleet.router(flags));
  return { figures: await measureLatency(prepare, decide, scale.matchMs, targets), checksum };
}

/** Each prompt is another request's. */
function decideNext({ index: { corpus, directory } }: RoutedFleet, router: Router) {
  let requests = 0;
  return {
    prepare: (): string => {
      requests += 1;
      corpus.writeTokens((requests * PROMPT_STRIDE) % corpus.promptCount, directory.tokens);
      return `request ${requests}`;
    },
    decide: (requestId: string): void => {
      router.route({ requestId, tokenCount: PROMPT_TOKENS, namespace: null });
    },
  };
}

async function measureRequests({ service, scale }: ServedFixture, explain: "true" | "false"): Promise<Answer> {
  const order: ClientOrder = {
    port: service.port,
    path: "/v1/route",
    form: "JSON",
    tokens: Array.from(service.prompt),
    fields: { request_id: "asked again and again", explain },
    connections: CONNECTIONS,
    warmUpMs: scale.httpMs * WARM_UP_SHARE,
    durationMs: scale.httpMs,
  };
  const report = await runProcess<ClientReport>(new URL("./http-client.process.ts", import.meta.url), order);
  const { prefill, candidates } = JSON.parse(report.answer) as { prefill: { score: number }; candidates?: unknown[] };
  assert(prefill.score === 0, "whoever has the whole prompt and nothing waiting is chosen");
  assert(candidates?.length === (explain === "true" ? scale.streams : undefined), "the candidates are listed as asked for");
  return {
    figures: [
      { label: "rate", value: report.requestsPerSecond, unit: "requests/s", target: null },
      { label: "p50", value: report.p50Ms, unit: "ms", target: null },
      { label: "p99", value: report.p99Ms, unit: "ms", target: null },
    ],
    checksum: new Checksum().add(...Buffer.from(report.answer)).toString(),
  };
}
