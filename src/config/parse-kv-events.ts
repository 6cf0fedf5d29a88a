/** From the text of a KV events file to checked settings, or to everything that is wrong with it. */

import { Value } from "@sinclair/typebox/value";
import { camelCased } from "./camel-case.ts";
import type { KvEventsConfig } from "./config.ts";
import type { Problem } from "./errors.ts";
import { jsonErrorOffset, lineAndColumn } from "./json-error.ts";
import { Discovery, KvEventsFile } from "./kv-events-file.ts";
import { ruleProblems } from "./kv-events-rules.ts";
import { schemaProblems } from "./schema-problems.ts";

/** What a file says, or what is wrong with it, each problem's setting being a path inside the file. */
export type ParsedKvEvents = { kvEvents: KvEventsConfig; problems: null } | { kvEvents: null; problems: Problem[] };

const NO_DISCOVERY = camelCased(Value.Create(Discovery));

/** Longest piece of a file that a message quotes, in UTF-16 units: enough to recognise the place. */
const QUOTE_LENGTH_MAX = 20;

/** Parses and checks the whole text; an empty object gives every field its default. */
export function parseKvEvents(text: string): ParsedKvEvents {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return { kvEvents: null, problems: [notJson(text)] };
  }

  const file = Value.Default(KvEventsFile, content);
  const problems = [...schemaProblems(KvEventsFile, file), ...ruleProblems(file)];
  if (problems.length > 0) return { kvEvents: null, problems };

  const { discovery = NO_DISCOVERY, streams = [], ...fields } = camelCased(file as KvEventsFile);
  // A file names no process: such a stream is credited to an instance only where that tells none either.
  const described = streams.map((stream) => ({ ...stream, incarnation: "" }));
  return { kvEvents: { ...fields, discovery, streams: described }, problems: null };
}

function notJson(text: string): Problem {
  const offset = jsonErrorOffset(text);
  const { line, column } = lineAndColumn(text, offset);
  const quote = text.slice(offset, offset + QUOTE_LENGTH_MAX).split("\n", 1)[0];
  return {
    setting: `line ${line} column ${column}`,
    found: offset === text.length ? "the end of the file" : JSON.stringify(quote),
    needed: "JSON",
  };
}
