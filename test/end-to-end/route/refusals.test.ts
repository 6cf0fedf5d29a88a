import { describe, expect, test } from "bun:test";
import { startWarmpath } from "../warmpath-process.ts";
import { type Member, RouteSite } from "./route-site.ts";

const TEST_TIMEOUT_MS = 20_000;

const SUSPECT: Member = { ranks: [], isSuspect: true };

interface Refusal {
  what: string;
  members: Record<string, Member>;
  reason: string;
  /** Of each instance that may not serve. */
  errors?: string[];
}

const REFUSALS: readonly Refusal[] = [
  { what: "nobody is registered", members: {}, reason: "no prefill candidate: no instance is registered" },
  {
    what: "nobody reports a load",
    members: { "a:1": { load: null }, "b:1": { load: null } },
    reason: "no prefill candidate: 2 without a known load",
    errors: ['instance "a:1": load unknown: no load report yet', 'instance "b:1": load unknown: no load report yet'],
  },
  {
    what: "everybody is SUSPECT",
    members: { "a:1": SUSPECT, "b:1": SUSPECT },
    reason: "no prefill candidate: 2 SUSPECT",
    errors: ['instance "a:1": the instance is SUSPECT', 'instance "b:1": the instance is SUSPECT'],
  },
  {
    what: "only DECODE is left",
    members: { "d:1": { role: "DECODE" } },
    reason: "no prefill candidate: no instance works on the prefill side",
  },
  {
    what: "only PREFILL is left",
    members: { "p:1": { role: "PREFILL" }, "d:1": { role: "DECODE", load: null } },
    reason: "no prefill candidate: 1 in need of a decode instance; no decode candidate: 1 without a known load",
    errors: [
      'instance "d:1": load unknown: no load report yet',
      'instance "p:1": only a DEFAULT instance serves without a decode instance',
    ],
  },
];

describe("Warmpath refuses to route", () => {
  for (const { what, members, reason, errors = [] } of REFUSALS) {
    test(
      `when ${what}, and says so`,
      async () => {
        const site = await RouteSite.of(members);
        try {
          expect(await site.request("POST", "/v1/route", { token_ids: [1] })).toMatchObject({
            status: 503,
            body: {
              type: "/problems/no-instance",
              detail: `Cannot route the request: ${reason}`,
              ...(errors.length > 0 && { errors: errors.map((detail) => ({ detail })) }),
            },
          });
          const { status, body } = await site.request<{ detail: string }>("GET", "/readyz");
          expect([status, body.detail]).toEqual([503, expect.stringContaining(reason)]);
        } finally {
          await site.stop();
        }
      },
      TEST_TIMEOUT_MS,
    );
  }
});

describe("Warmpath does not start", () => {
  for (const [flag, value, found, needed] of [
    ["--load-balance-policy", "LEAST_BUSY", '"LEAST_BUSY"', '"CAR" or "RR" or "SLO_AWARE"'],
    ["--car-prefill-lambda", "1.5", '"1.5"', "a number from 0 to 1"],
    ["--car-prefill-lambda", "-0.1", '"-0.1"', "a number from 0 to 1"],
    ["--car-prefill-lambda", "NaN", '"NaN"', "a number from 0 to 1"],
  ]) {
    test(`with ${flag} ${value}, and says what is needed`, async () => {
      const warmpath = startWarmpath([`${flag}=${value}`]);
      expect(await warmpath.exitCode).toBe(2);
      const { stderr } = await warmpath.output;
      expect(stderr).toBe(`Cannot accept the configuration:\n  ${flag}: found ${found}, needed ${needed}\n`);
    });
  }
});
