import { expect, test } from "bun:test";
import { parseFlags } from "../../src/config/flags.ts";

function given(...args: string[]): Record<string, string> {
  const flags = parseFlags(args);
  if (flags === "help") throw new Error("help was not asked for");
  expect(flags.problems).toEqual([]);
  return Object.fromEntries(flags.given);
}

function problems(...args: string[]): string[] {
  const flags = parseFlags(args);
  if (flags === "help") throw new Error("help was not asked for");
  return flags.problems.map(({ setting, found, needed }) => `${setting}: found ${found}, needed ${needed}`);
}

const UNKNOWN = "found an unknown flag, needed one that --help lists";

test.each([
  [["--http-server-port", "9000"]],
  [["--http_server_port", "9000"]],
  [["--http-server_port", "9000"]],
  [["--http-server-port=9000"]],
  [["--http_server_port=9000"]],
])("parseFlags reads %j as one setting", (args) => {
  expect(given(...args)).toEqual({ http_server_port: "9000" });
});

test("parseFlags reads several flags in any order and form", () => {
  expect(given("--internal-api-token=a=b", "--host", "::1")).toEqual({ internal_api_token: "a=b", host: "::1" });
});

test("parseFlags takes an empty value and one that begins with a hyphen", () => {
  expect(given("--host=", "--http-server-port", "-1")).toEqual({ host: "", http_server_port: "-1" });
  expect(given("--internal-api-token=--x")).toEqual({ internal_api_token: "--x" });
});

test.each([[["--help"]], [["-h"]], [["--nonsense", "stray", "--help"]]])("parseFlags lets help in %j win", (args) => {
  expect(parseFlags(args)).toBe("help");
});

test.each([
  [["serve"], 'argument 1: found "serve", needed a flag such as --host VALUE'],
  [["--host", "a", "-x"], 'argument 3: found "-x", needed a flag such as --host VALUE'],
  [["--hots", "a"], `--hots: ${UNKNOWN} (did you mean --host?)`],
  [["--hots=a"], `--hots: ${UNKNOWN} (did you mean --host?)`],
  [["--Host", "a"], `--Host: ${UNKNOWN} (did you mean --host?)`],
  [["--hlep"], `--hlep: ${UNKNOWN} (did you mean --help?)`],
  [["--no-track-inflight"], `--no-track-inflight: ${UNKNOWN} (did you mean --track-inflight?)`],
  [["--target_tpft=1"], `--target_tpft: ${UNKNOWN} (did you mean --target-ttft or --target-tpot?)`],
  [["--"], `--: ${UNKNOWN}`],
  [["--constructor=a"], `--constructor: ${UNKNOWN}`],
  [["--host"], "--host: found no value, needed --host VALUE"],
  [["--host=a", "--host", "b"], "--host: found a second value, needed the flag once"],
  [["--http-server-port=1", "--http_server_port=1"], "--http-server-port: found a second value, needed the flag once"],
])("parseFlags refuses %j", (args, problem) => {
  expect(problems(...args)).toEqual([problem]);
});

test.each([
  [["--track-inflight"], { track_inflight: "true" }],
  [["--track_inflight=false"], { track_inflight: "false" }],
  [["--track-inflight", "false"], { track_inflight: "false" }],
  [["--track-inflight", "true", "--host", "a"], { track_inflight: "true", host: "a" }],
  [["--track-inflight", "--host", "a"], { track_inflight: "true", host: "a" }],
  [["--track-inflight="], { track_inflight: "" }],
  [["--host", "false", "--track-inflight"], { track_inflight: "true", host: "false" }],
])("parseFlags reads %j, where a flag that is true or false may stand alone", (args, expected) => {
  expect(given(...args)).toEqual(expected);
});

test.each(["no", "0", "TRUE", "-1"])("parseFlags leaves %j behind a flag that is true or false to be refused", (stray) => {
  expect(problems("--track-inflight", stray)).toEqual([
    `argument 2: found ${JSON.stringify(stray)}, needed a flag such as --host VALUE`,
  ]);
});

test("parseFlags refuses a second value of a flag that is true or false", () => {
  expect(problems("--track-inflight", "--track-inflight=false")).toEqual([
    "--track-inflight: found a second value, needed the flag once",
  ]);
});

test("parseFlags does not take the next flag for a forgotten value", () => {
  expect(problems("--host", "--http-server-port", "1")).toEqual(["--host: found no value, needed --host VALUE"]);
});

test("parseFlags reports everything that is wrong and keeps what is right", () => {
  const flags = parseFlags(["stray", "--hots", "a", "--host", "b", "--internal-api-token"]);
  if (flags === "help") throw new Error("help was not asked for");
  expect(flags.problems.map(({ setting }) => setting)).toEqual(["argument 1", "--hots", "--internal-api-token"]);
  expect(Object.fromEntries(flags.given)).toEqual({ host: "b" });
});
