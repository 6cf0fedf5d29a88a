import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatEntry, formatHead, parseRecording, type RecordingEntry } from "../../scripts/recording.ts";

const HEAD = { endpoint: "tcp://10.0.0.5:5557", topic: "kv", startedAt: "2026-01-31T12:00:00.000Z", warmpath: "0.1.0" };
const MESSAGE: RecordingEntry = { kind: "message", atMs: 1.5, frames: [new Uint8Array(0), Uint8Array.of(1, 2, 3)] };

const entries = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("message" as const),
      atMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
      frames: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }),
    }),
    fc.record({
      kind: fc.constant("connection" as const),
      atMs: fc.nat(),
      event: fc.constantFrom("connected", "disconnected"),
    }),
  ),
  { maxLength: 10 },
);

describe("parseRecording", () => {
  test("parseRecording gives back what was written", () => {
    fc.assert(
      fc.property(entries, (written) => {
        const text = formatHead(HEAD) + written.map(formatEntry).join("");
        const read = parseRecording(text);
        expect(read.head).toEqual(HEAD);
        expect(read.warnings).toEqual([]);
        expect(JSON.stringify(read.entries)).toBe(JSON.stringify(written));
      }),
    );
  });

  test("parseRecording keeps every whole line of a file that was cut off anywhere, and warns", () => {
    const head = formatHead(HEAD);
    const text = head + formatEntry(MESSAGE) + formatEntry(MESSAGE);
    for (let length = head.length; length < text.length; length++) {
      const read = parseRecording(text.slice(0, length));
      const lineEnds = text.slice(0, length).split("\n").length - 1;
      expect(read.entries).toHaveLength(lineEnds - 1);
      const isCut = !text.slice(0, length).endsWith("\n");
      expect(read.warnings).toEqual(isCut ? [`Line ${lineEnds + 1} is cut off and left out`] : []);
    }
  });

  test("formatHead and formatEntry write one line each that a person can read", () => {
    expect(formatHead(HEAD)).toBe(
      '{"warmpathRecording":1,"endpoint":"tcp://10.0.0.5:5557","topic":"kv","startedAt":"2026-01-31T12:00:00.000Z","warmpath":"0.1.0"}\n',
    );
    expect(formatEntry(MESSAGE)).toBe('{"atMs":1.5,"frames":["","AQID"]}\n');
    expect(formatEntry({ kind: "connection", atMs: 2, event: "connected" })).toBe('{"atMs":2,"connection":"connected"}\n');
  });

  test("parseRecording names the line of what no recorder wrote", () => {
    const head = formatHead(HEAD);
    for (const [text, found] of [
      ["", "line 1: it is no JSON"],
      ["[]\n", 'line 1: "warmpathRecording" is undefined, 1 is needed'],
      ['{"warmpathRecording":2}\n', 'line 1: "warmpathRecording" is 2, 1 is needed'],
      ['{"warmpathRecording":1,"topic":""}\n', 'line 1: texts "endpoint"'],
      [`${head}${formatEntry(MESSAGE)}nonsense\n`, "line 3: it is no JSON"],
      [`${head}7\n`, "line 2: a JSON object is needed"],
      [`${head}{"atMs":1}\n`, 'line 2: "atMs" with either "frames" or "connection" is needed'],
      [`${head}{"atMs":-1,"frames":[]}\n`, 'line 2: "atMs" with either'],
      [`${head}{"atMs":1,"frames":["?"]}\n`, "line 2: a frame is not base64"],
      [`${head}{"atMs":1,"frames":[7]}\n`, "line 2: a frame is not base64"],
    ]) {
      expect(() => parseRecording(text)).toThrow(`Cannot read the recording: ${found}`);
    }
  });
});
