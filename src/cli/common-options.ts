/** The options that every command has, which say where Warmpath is and how it is asked. */

import { readFile } from "node:fs/promises";
import type { DoorOptions } from "./door.ts";
import { wrongUsage } from "./errors.ts";
import type { Options, ReadArguments } from "./options.ts";
import type { Environment } from "./terminal.ts";

const DEFAULT_URL = "http://127.0.0.1:8888";
const DEFAULT_TIMEOUT_SECONDS = 10;
const TIMEOUT_SECONDS_MAX = 3600;

const TOKEN_VARIABLE = "WARMPATH_INTERNAL_API_TOKEN";

/** What a header can carry unchanged, as for the setting internal_api_token. */
const TOKEN = /^[!-~]+$/;

export const COMMON_OPTIONS = {
  url: { value: "URL", meaning: `Where Warmpath is; else WARMPATH_URL, else ${DEFAULT_URL}` },
  "token-file": { value: "PATH", meaning: `A file with the internal token; else ${TOKEN_VARIABLE}, else none` },
  timeout: {
    value: "SECONDS",
    meaning: `How long an answer may take, above 0 and at most ${TIMEOUT_SECONDS_MAX}; default ${DEFAULT_TIMEOUT_SECONDS}`,
  },
  json: { value: null, meaning: "Print what Warmpath answers, JSON on one line" },
  help: { value: null, meaning: "Print this text" },
} satisfies Options;

/** How Warmpath is to be asked. Throws a CommandError (2); no message has the token. */
export async function readDoorOptions(given: ReadArguments, environment: Environment): Promise<DoorOptions> {
  return {
    url: readUrl(given.text("url"), environment.WARMPATH_URL),
    token: await readToken(given.text("token-file"), environment[TOKEN_VARIABLE]),
    timeoutMs: readTimeoutMs(given.text("timeout")),
  };
}

function readUrl(option: string | null, variable = ""): string {
  const [name, text] = option !== null ? ["--url", option] : ["WARMPATH_URL", variable || DEFAULT_URL];
  const url = URL.parse(text);
  const needed = "needed http://host:port or https://host:port";
  if (url === null || !/^https?:$/.test(url.protocol))
    throw wrongUsage(`Cannot use ${name}: found ${JSON.stringify(text)}, ${needed}`);
  // Messages show the URL.
  if (url.username !== "" || url.password !== "") throw wrongUsage(`Cannot use ${name}: found a login in it, ${needed}`);
  if (url.search !== "" || url.hash !== "") throw wrongUsage(`Cannot use ${name}: found more than a path in it, ${needed}`);
  return text;
}

async function readToken(path: string | null, variable = ""): Promise<string | null> {
  if (path === null) {
    if (variable === "") return null;
    if (TOKEN.test(variable)) return variable;
    throw wrongUsage(`Cannot use ${TOKEN_VARIABLE}: found other characters, needed printable ASCII without spaces`);
  }
  const name = `--token-file ${JSON.stringify(path)}`;
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw wrongUsage(`Cannot use ${name}: ${error.message}`);
  });
  const token = text.trim();
  if (!TOKEN.test(token)) throw wrongUsage(`Cannot use ${name}: found no token, needed one of printable ASCII without spaces`);
  return token;
}

function readTimeoutMs(text: string | null): number {
  const seconds = text === null ? DEFAULT_TIMEOUT_SECONDS : Number(text);
  if (seconds > 0 && seconds <= TIMEOUT_SECONDS_MAX) return seconds * 1000;
  throw wrongUsage(
    `Cannot use --timeout: found ${JSON.stringify(text)}, needed seconds above 0 and at most ${TIMEOUT_SECONDS_MAX}`,
  );
}
