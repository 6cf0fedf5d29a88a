/** The prompt of a command: token ids from a file, from standard input, or from the command line itself. */

import { type CommandError, wrongUsage } from "./errors.ts";
import type { Options, ReadArguments } from "./options.ts";
import type { Terminal } from "./terminal.ts";

const TOKEN_MAX = 0xffff_ffff;

/** The largest prompt in its widest form, and some more; a larger file is not a prompt. */
const INPUT_BYTES_MAX = 16_777_216;

/** Characters of what was found that a message quotes. */
const EXCERPT_CHARACTERS = 24;

/** The fields of a request for the prompt, `token_ids` first. */
export interface PromptFields {
  token_ids: number[];
  [field: string]: unknown;
}

export const PROMPT_OPTIONS = {
  "lora-name": { value: "NAME", meaning: "The adapter that the prompt runs with, as the engine knows it" },
  "cache-salt": { value: "SALT", meaning: "The request's cache salt" },
} satisfies Options;

export const PROMPT_HELP =
  "TOKENS is a file, - for standard input, or the ids themselves: 1,2,3. A file holds numbers with spaces, commas or lines " +
  "between, a JSON array, the JSON object of a request with its other fields, or an engine's answer to /tokenize, which has " +
  "them as tokens.";

/** The prompt that the operand names, with the fields that options add. Throws a CommandError (2). */
export async function readPrompt(given: ReadArguments, terminal: Terminal): Promise<PromptFields> {
  const [operand] = given.operands;
  if (operand === undefined)
    throw wrongUsage("Cannot read a prompt: found none, needed a file of token ids, -, or ids such as 1,2,3");
  const prompt = await readOperand(operand, terminal);
  const [loraName, cacheSalt] = [given.text("lora-name"), given.text("cache-salt")];
  return {
    ...prompt,
    ...(loraName !== null && { lora_name: loraName }),
    ...(cacheSalt !== null && { cache_salt: cacheSalt }),
  };
}

async function readOperand(operand: string, terminal: Terminal): Promise<PromptFields> {
  if (/^[\s\d,]+$|^\s*[[{]/.test(operand)) return readPromptText(operand, "the arguments");
  const [source, stream] =
    operand === "-"
      ? ["standard input", terminal.standardInput()]
      : [JSON.stringify(operand), Bun.file(operand).stream() as ReadableStream<Uint8Array>];
  return readPromptText(await readAll(stream, source), source);
}

async function readAll(stream: ReadableStream<Uint8Array>, source: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.byteLength;
      if (bytes > INPUT_BYTES_MAX) break;
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    throw unreadable(source, `found no file that can be read (${(error as Error).message}), needed token ids`);
  }
  if (bytes > INPUT_BYTES_MAX) throw unreadable(source, `found more than ${INPUT_BYTES_MAX} bytes, needed the ids of one prompt`);
  return text + decoder.decode();
}

/** The prompt in a text. Throws a CommandError (2) that names `source`. */
export function readPromptText(text: string, source: string): PromptFields {
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) return readObject(trimmed, source);
  if (trimmed.startsWith("[")) return { token_ids: checked(parseJson(trimmed, source), source) };
  const numbers = trimmed.split(/[\s,]+/).filter((part) => part !== "");
  return {
    token_ids: checked(
      numbers.map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
      source,
    ),
  };
}

function readObject(text: string, source: string): PromptFields {
  const { token_ids: tokenIds, tokens, ...fields } = parseJson(text, source) as Record<string, unknown>;
  if (tokenIds !== undefined) return { token_ids: checked(tokenIds, source), ...fields };
  // The other fields of an engine's answer are not those of a request.
  if (tokens !== undefined) return { token_ids: checked(tokens, source) };
  throw unreadable(source, "found an object without token_ids or tokens, needed one of them");
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(source, `found no JSON (${(error as Error).message}), needed an array of token ids or an object with it`);
  }
}

function checked(tokens: unknown, source: string): number[] {
  if (!Array.isArray(tokens)) throw unreadable(source, `found ${excerpt(tokens)}, needed an array of token ids`);
  for (const [position, token] of tokens.entries()) {
    if (Number.isInteger(token) && token >= 0 && token <= TOKEN_MAX) continue;
    throw unreadable(source, `found ${excerpt(token)} as number ${position + 1}, needed an integer from 0 to ${TOKEN_MAX}`);
  }
  return tokens;
}

function unreadable(source: string, problem: string): CommandError {
  return wrongUsage(`Cannot read the prompt in ${source}: ${problem}`);
}

function excerpt(found: unknown): string {
  const text = JSON.stringify(found);
  return text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text;
}
