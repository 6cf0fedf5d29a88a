import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { PAGE_BYTES_MAX, readExposition, SAMPLES_MAX } from "../../../src/fleet/scrape/exposition.ts";

/** The samples of family `a`, as plain objects; fails when the page is unusable. */
function samplesOfA(page: string) {
  const exposition = readExposition(page, ["a"]);
  if (exposition.kind === "unusable") throw new Error(exposition.problem);
  return exposition.samples.map(({ labels, value }) => ({ labels: Object.fromEntries(labels), value }));
}

function onlyValue(text: string): number | undefined {
  return samplesOfA(`a ${text}\n`)[0]?.value;
}

describe("readExposition", () => {
  test("reads samples with and without labels, in the order of the page", () => {
    expect(samplesOfA('a{x="1",y="two"} 3\na 4\na{} 5')).toEqual([
      { labels: { x: "1", y: "two" }, value: 3 },
      { labels: {}, value: 4 },
      { labels: {}, value: 5 },
    ]);
  });

  test("keeps only the families asked for, by their whole names", () => {
    const page = '# HELP a about a\n# TYPE a gauge\na 1\na_by_reason{reason="x"} 2\nab 3\nb 4\nA 5\n';
    const exposition = readExposition(page, ["b", "a"]);
    expect(exposition).toEqual({
      kind: "samples",
      samples: [
        { family: "a", labels: new Map(), value: 1 },
        { family: "b", labels: new Map(), value: 4 },
      ],
    });
  });

  test("reads escapes in label values, and braces, commas and hashes as letters", () => {
    expect(samplesOfA(String.raw`a{x="\"q\" \\ \n end",y="},{#"} 1`)).toEqual([
      { labels: { x: '"q" \\ \n end', y: "},{#" }, value: 1 },
    ]);
    expect(samplesOfA(String.raw`a{x="\t\\n"} 1`)[0]?.labels).toEqual({ x: String.raw`\t\n` });
  });

  test.each([
    ["0", 0],
    ["-12.5", -12.5],
    ["+3.", 3],
    [".5", 0.5],
    ["1.1701968896e+010", 11701968896],
    ["2E-3", 0.002],
    ["NaN", Number.NaN],
    ["+Inf", Number.POSITIVE_INFINITY],
    ["inf", Number.POSITIVE_INFINITY],
    ["-Inf", Number.NEGATIVE_INFINITY],
  ])("reads the value %s", (text, value) => {
    expect(onlyValue(text)).toBe(value);
  });

  test("reads past timestamps, OpenMetrics' exemplars and its end mark", () => {
    expect(
      samplesOfA('a 1 1712000000000\na 2 1712.5 # {trace_id="x"} 0.5 1712.5\na 3 # {} 1\n# EOF\n').map(({ value }) => value),
    ).toEqual([1, 2, 3]);
  });

  test("bears blanks, carriage returns, empty lines and a comma behind the last label", () => {
    expect(samplesOfA('\r\n\n  \ta { x = "1" , y="2", } \t 7 \r\n')).toEqual([{ labels: { x: "1", y: "2" }, value: 7 }]);
  });

  test("never looks into lines of other families", () => {
    expect(samplesOfA('{"json": true}\nb{x="open 1\nnonsense\n<html>\n\0\0\na 1\n}{')).toEqual([{ labels: {}, value: 1 }]);
  });

  test.each([
    "a one",
    "a",
    "a{",
    'a{x="1" 2',
    "a{x=1} 2",
    'a{x="1"y="2"} 3',
    "a{,} 1",
    "a 0x10",
    "a 1 2 3",
    'a{x="open} 1',
    "a 1e",
    "a 1_0",
  ])("finds the page unusable for the malformed line %s", (line) => {
    const problem = `this line of /metrics is no sample: ${JSON.stringify(line)}`;
    expect(readExposition(`a 1\n${line}\na 2\n`, ["a"])).toEqual({ kind: "unusable", problem });
    expect(readExposition(line, ["a"])).toEqual({ kind: "unusable", problem });
  });

  test("shows no more than the beginning of a long malformed line", () => {
    const exposition = readExposition(`a ${"x".repeat(10_000)}`, ["a"]);
    expect(exposition.kind === "unusable" && exposition.problem.length).toBeLessThan(200);
  });

  test("takes as many samples as are allowed, and not one more", () => {
    const page = "a 1\n".repeat(SAMPLES_MAX);
    expect(samplesOfA(page)).toHaveLength(SAMPLES_MAX);
    expect(readExposition(`${page}a 1\n`, ["a"])).toEqual({
      kind: "unusable",
      problem: `/metrics has more than ${SAMPLES_MAX} samples of a`,
    });
  });

  test("reads a label value as large as the page", () => {
    const escapes = String.raw`\"`.repeat(500_000);
    const page = `a{x="${escapes}${"y".repeat(PAGE_BYTES_MAX - 2 * 500_000 - 9)}"} 1`;
    expect(page.length).toBe(PAGE_BYTES_MAX);
    expect(samplesOfA(page)[0]?.labels.x?.length).toBe(PAGE_BYTES_MAX - 500_000 - 9);
  });

  test("reads back whatever labels and values are written", () => {
    const label = fc.stringMatching(/^[a-z_]\w{0,6}$/);
    const sample = fc.record({ labels: fc.dictionary(label, fc.string({ unit: "binary" })), value: fc.double() });
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 5 }), (samples) => {
        const read = samplesOfA(
          samples.map(({ labels, value }) => `a{${formatLabels(labels)}} ${formatValue(value)}\n`).join(""),
        );
        // Numbers have one zero here: "-0" is written as "0".
        expect(read).toEqual(samples.map(({ labels, value }) => ({ labels: { ...labels }, value: value + 0 })));
      }),
    );
  });

  test("never throws, whatever the page", () => {
    const piece = fc.constantFrom("a", "{", "}", '"', "\\", "\n", " ", "=", ",", "#", "1", "é", "x");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((pieces) => pieces.join("")),
        ),
        (page) => {
          expect(["samples", "unusable"]).toContain(readExposition(page, ["a"]).kind);
        },
      ),
    );
  });
});

function formatLabels(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`)
    .join(",");
}

function formatValue(value: number): string {
  return String(value).replace("Infinity", "Inf");
}
