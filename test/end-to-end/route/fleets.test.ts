import { describe, expect, test } from "bun:test";
import type { CandidateAnswer, DecisionAnswer } from "../../../src/http/route/schema.ts";
import { type Expected, FLEETS, type FleetCase } from "./fleets.ts";
import { promptTokens } from "./played-rank.ts";
import { RouteSite } from "./route-site.ts";

/** Numbers this near are equal. */
const TOLERANCE = 1e-9;

const TEST_TIMEOUT_MS = 20_000;

/** What the answer says of a candidate, in the words of the table; numbers within the tolerance become the expected ones. */
function seen({ kv_hit_ratio, queue_cost, score, excluded }: CandidateAnswer, expected: Expected | undefined): Expected {
  if (excluded !== null) return excluded;
  const [ratio, queue, least] = [kv_hit_ratio, queue_cost, score ?? Number.NaN].map((number, position) => {
    const wanted = Number(expected?.[position]);
    return Math.abs(number - wanted) <= TOLERANCE ? wanted : number;
  });
  return [ratio, queue, least];
}

function summary({ prefill, decode, candidates = [] }: DecisionAnswer, expected: FleetCase["candidates"]) {
  return {
    prefill: prefill.instance_name,
    decode: decode?.instance_name ?? null,
    candidates: Object.fromEntries(candidates.map((one) => [one.instance_name, seen(one, expected[one.instance_name])])),
    uncredited: Object.fromEntries(
      candidates.filter(({ uncredited }) => uncredited !== null).map((one) => [one.instance_name, one.uncredited]),
    ),
  };
}

/** The chosen instances are given with the numbers that they have among the candidates. */
function expectChosenAsListed({ prefill, decode, candidates = [] }: DecisionAnswer): void {
  for (const chosen of [prefill, ...(decode === null ? [] : [decode])]) {
    const { address: _address, ...numbers } = chosen;
    expect(candidates.find(({ instance_name }) => instance_name === chosen.instance_name)).toMatchObject(numbers);
  }
}

describe("Over HTTP", () => {
  for (const { what, flags, members, tokens, fields, prefill, decode = null, candidates, uncredited = {} } of FLEETS) {
    test(
      what,
      async () => {
        const site = await RouteSite.of(members, flags);
        try {
          const answer = await site.route({ token_ids: promptTokens(tokens), ...fields });
          expect(summary(answer, candidates)).toEqual({ prefill, decode, candidates, uncredited });
          expectChosenAsListed(answer);
        } finally {
          await site.stop();
        }
      },
      TEST_TIMEOUT_MS,
    );
  }
});
