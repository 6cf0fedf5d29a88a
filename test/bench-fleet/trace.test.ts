import { describe, expect, test } from "bun:test";
import { writePromptTokens } from "./prompt-tokens.ts";
import { BLOCK_TOKENS, parseTrace, readTrace, spreadArrivals, traceDurationMs } from "./trace.ts";

function line(timestamp: number, input_length: number, hash_ids: number[], output_length = 10) {
  return { timestamp, input_length, output_length, hash_ids };
}

describe("A trace", () => {
  test("Both fixtures are read whole, in the order of arrival", async () => {
    for (const [name, count, durationMs] of [
      ["conversation", 12_031, 3_536_999],
      ["synthetic", 3993, 1_022_025],
    ] as const) {
      const trace = await readTrace(name);
      expect(trace.requests).toHaveLength(count);
      expect(traceDurationMs(trace)).toBe(durationMs);
      expect(trace.requests.every(({ arrivalMs }, id) => id === 0 || arrivalMs >= trace.requests[id - 1].arrivalMs)).toBe(true);
    }
  });

  test("Blocks are numbered by all that stands before them, and only full ones", () => {
    const { requests, blocks } = parseTrace("synthetic", [
      line(0, 3 * BLOCK_TOKENS, [7, 8, 9]),
      line(1, 2 * BLOCK_TOKENS + 1, [7, 8, 5]),
      line(2, 2 * BLOCK_TOKENS, [8, 9]),
      line(3, 1, [7]),
    ]);
    expect(requests.map((request) => request.blocks)).toEqual([[0, 1, 2], [0, 1], [3, 4], []]);
    expect(blocks).toEqual([
      { hashId: 7, parent: null },
      { hashId: 8, parent: 0 },
      { hashId: 9, parent: 1 },
      { hashId: 8, parent: null },
      { hashId: 9, parent: 3 },
    ]);
  });

  test("A line whose ids are not as many as its blocks is refused", () => {
    expect(() => parseTrace("synthetic", [line(0, BLOCK_TOKENS + 1, [1])])).toThrow("request 0 of synthetic");
  });

  test("Requests of one time are spread up to the next, in their order", () => {
    const trace = parseTrace("synthetic", [
      line(0, 1, [1]),
      line(0, 1, [1]),
      line(0, 1, [1]),
      line(30, 1, [1]),
      line(30, 1, [1]),
    ]);
    expect(spreadArrivals(trace).requests.map(({ arrivalMs }) => arrivalMs)).toEqual([0, 10, 20, 30, 30]);
  });
});

describe("writePromptTokens", () => {
  const { requests } = parseTrace("synthetic", [
    line(0, 2 * BLOCK_TOKENS, [7, 8]),
    line(1, BLOCK_TOKENS + 3, [7, 8]),
    line(2, 2 * BLOCK_TOKENS, [8, 7]),
  ]);
  const [whole, cut, swapped] = requests.map((request) => {
    const tokens = new Uint32Array(2 * BLOCK_TOKENS);
    writePromptTokens(request, tokens);
    return tokens;
  });

  test("Equal hash ids give equal tokens wherever they stand, different ones different tokens", () => {
    expect(swapped.subarray(BLOCK_TOKENS)).toEqual(whole.subarray(0, BLOCK_TOKENS));
    expect(swapped.subarray(0, BLOCK_TOKENS)).toEqual(whole.subarray(BLOCK_TOKENS));
    expect(swapped).not.toEqual(whole);
  });

  test("A prompt ends with its last token", () => {
    expect(cut.subarray(0, BLOCK_TOKENS + 3)).toEqual(whole.subarray(0, BLOCK_TOKENS + 3));
    expect(cut.subarray(BLOCK_TOKENS + 3).every((token) => token === 0)).toBe(true);
  });
});
