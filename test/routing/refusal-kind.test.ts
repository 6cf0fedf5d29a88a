import { expect, test } from "bun:test";
import type { Candidate, Exclusion, Side } from "#routing";
import { refusalKind } from "#routing";

const candidate = (side: Side, excluded: Exclusion | null) => ({ side, excluded }) as Candidate;
const SUSPECT: Exclusion = { reason: "suspect" };
const UNKNOWN: Exclusion = { reason: "load-unknown", detail: "no load report yet" };
const NEEDS_DECODE: Exclusion = { reason: "needs-decode" };

test.each<[ReturnType<typeof refusalKind>, Candidate[]]>([
  ["no-instance", []],
  ["no-prefill-side", [candidate("decode", null), candidate("decode", SUSPECT)]],
  ["suspect", [candidate("prefill", SUSPECT), candidate("prefill", SUSPECT), candidate("decode", UNKNOWN)]],
  ["load-unknown", [candidate("prefill", UNKNOWN)]],
  ["needs-decode", [candidate("prefill", NEEDS_DECODE)]],
  ["mixed", [candidate("prefill", SUSPECT), candidate("prefill", UNKNOWN)]],
])("refusalKind says %s", (kind, candidates) => {
  expect(refusalKind(candidates)).toBe(kind);
});
