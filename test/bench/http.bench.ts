/** Queries per second that a whole Warmpath answers over HTTP, asked by a client in another process. */

import { assert } from "#base";
import { Checksum } from "./checksum.ts";
import { runProcess } from "./child-process.ts";
import { grouped } from "./grouped.ts";
import type { ClientOrder, ClientReport } from "./http-client.process.ts";
import { QUERY_FORMS, QUERY_PATH, type QueryForm } from "./query-request.ts";
import { type Answer, atLeast, defineGroup, type Question, type Target } from "./question.ts";
import type { Scale } from "./scale.ts";
import { ServedFleet } from "./served-fleet.ts";

/** Enough that the server never waits for a client that is between two requests. */
const CONNECTIONS = 4;

const WARM_UP_SHARE = 1 / 4;

const TARGETS: Record<QueryForm, Target | null> = { JSON: atLeast(2500), binary: atLeast(5000), MessagePack: null };

interface Fixture {
  fleet: ServedFleet;
  scale: Scale;
}

export const http = defineGroup<Fixture>({
  open: async (scale) => ({ fleet: await ServedFleet.start(scale.promptTokens), scale }),
  close: ({ fleet }) => fleet.stop(),
  questions,
});

function questions({ promptTokens }: Scale): Question<Fixture>[] {
  return QUERY_FORMS.map((form) => ({
    what: `query over HTTP, ${grouped(promptTokens)} tokens as ${form}, ${CONNECTIONS} connections of one client`,
    measure: (fixture) => measureQueries(fixture, form),
  }));
}

async function measureQueries({ fleet, scale }: Fixture, form: QueryForm): Promise<Answer> {
  const order: ClientOrder = {
    port: fleet.port,
    path: QUERY_PATH,
    form,
    tokens: Array.from(fleet.prompt),
    fields: {},
    connections: CONNECTIONS,
    warmUpMs: scale.httpMs * WARM_UP_SHARE,
    durationMs: scale.httpMs,
  };
  const { requestsPerSecond, answer } = await runProcess<ClientReport>(
    new URL("./http-client.process.ts", import.meta.url),
    order,
  );
  assert(fleet.isRight(answer), "the answer says what each engine holds");
  return {
    figures: [{ label: "rate", value: requestsPerSecond, unit: "requests/s", target: TARGETS[form] }],
    checksum: new Checksum().add(...Buffer.from(answer)).toString(),
  };
}
