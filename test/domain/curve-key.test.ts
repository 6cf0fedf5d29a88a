import { expect, test } from "bun:test";
import { isCurveKey } from "#domain";

/** The pair of keys that ZeroMQ's documentation shows. */
const KEYS = ["Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"];

test.each([...KEYS, "0".repeat(40), "%nSc0".repeat(8)])("isCurveKey accepts %j", (text) => {
  expect(isCurveKey(text)).toBe(true);
});

test.each([
  ["nothing", ""],
  ["39 characters", KEYS[0].slice(1)],
  ["41 characters", `${KEYS[0]}0`],
  ["a newline behind it", `${KEYS[0].slice(1)}\n`],
  ["hexadecimal digits", "ab".repeat(32)],
  ["a character that Z85 lacks", KEYS[0].replace("Y", "~")],
  ["a character of two units", `${KEYS[0].slice(2)}😀`],
  ["five characters that are more than four bytes", `${KEYS[0].slice(5)}%nSc1`],
])("isCurveKey refuses %s", (_what, text) => {
  expect(isCurveKey(text)).toBe(false);
});
