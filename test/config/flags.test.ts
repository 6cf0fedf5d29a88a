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

const KNOWN = "--host, --http-server-port, --internal-api-token, --kv-events-config-file, --help";

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
  [["--hots", "a"], `--hots: found an unknown flag, needed one of ${KNOWN}`],
  [["--hots=a"], `--hots: found an unknown flag, needed one of ${KNOWN}`],
  [["--Host", "a"], `--Host: found an unknown flag, needed one of ${KNOWN}`],
  [["--"], `--: found an unknown flag, needed one of ${KNOWN}`],
  [["--constructor=a"], `--constructor: found an unknown flag, needed one of ${KNOWN}`],
  [["--host"], "--host: found no value, needed --host VALUE"],
  [["--host=a", "--host", "b"], "--host: found a second value, needed the flag once"],
  [["--http-server-port=1", "--http_server_port=1"], "--http-server-port: found a second value, needed the flag once"],
])("parseFlags refuses %j", (args, problem) => {
  expect(problems(...args)).toEqual([problem]);
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
