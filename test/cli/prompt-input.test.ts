import { afterAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "../../src/cli/options.ts";
import { PROMPT_OPTIONS, readPrompt, readPromptText } from "../../src/cli/prompt-input.ts";
import { RecordingTerminal } from "./recording-terminal.ts";

const FILE = join(tmpdir(), `warmpath-prompt-${crypto.randomUUID()}.json`);

afterAll(() => rm(FILE, { force: true }));

const read = (args: string[], input = "") => readPrompt(readArguments(args, PROMPT_OPTIONS, 1), new RecordingTerminal({ input }));

describe("readPromptText", () => {
  test.each([
    ["1,2,3", [1, 2, 3]],
    [" 1 2\n3,\n", [1, 2, 3]],
    ["[1, 2, 4294967295]", [1, 2, 4294967295]],
    ["", []],
    ["[]", []],
  ])("readPromptText reads %j", (text, tokens) => {
    expect(readPromptText(text, "x")).toEqual({ token_ids: tokens });
  });

  test("readPromptText keeps the other fields of a request, and none of an engine's answer", () => {
    expect(readPromptText('{"cache_salt":"s","token_ids":[1]}', "x")).toEqual({ token_ids: [1], cache_salt: "s" });
    expect(readPromptText('{"count":1,"max_model_len":8,"tokens":[1]}', "x")).toEqual({ token_ids: [1] });
  });

  test.each([
    ["1,-2", 'found "-2" as number 2, needed an integer from 0 to 4294967295'],
    ["[1.5]", "found 1.5 as number 1, needed an integer from 0 to 4294967295"],
    ["[4294967296]", "found 4294967296 as number 1, needed an integer from 0 to 4294967295"],
    ['["1"]', 'found "1" as number 1, needed an integer from 0 to 4294967295'],
    ["hello there", 'found "hello" as number 1, needed an integer from 0 to 4294967295'],
    ['{"prompt":"hello"}', "found an object without token_ids or tokens, needed one of them"],
    ['{"token_ids":"1,2"}', 'found "1,2", needed an array of token ids'],
    [`["${"a".repeat(100)}"]`, `found "${"a".repeat(23)}… as number 1, needed an integer from 0 to 4294967295`],
  ])("readPromptText refuses %j", (text, problem) => {
    expect(() => readPromptText(text, "x")).toThrow(`Cannot read the prompt in x: ${problem}`);
  });

  test("readPromptText refuses JSON that ends early", () => {
    for (const text of ["[1,2", '{"token_ids":[1'])
      expect(() => readPromptText(text, "x")).toThrow("Cannot read the prompt in x: found no JSON");
  });
});

describe("readPrompt", () => {
  test("readPrompt reads ids from the arguments, a file, and standard input", async () => {
    await Bun.write(FILE, "[7, 8]");
    expect(await read(["1,2"])).toEqual({ token_ids: [1, 2] });
    expect(await read(["[3]"])).toEqual({ token_ids: [3] });
    expect(await read([FILE])).toEqual({ token_ids: [7, 8] });
    expect(await read(["-"], "9 10")).toEqual({ token_ids: [9, 10] });
  });

  test("readPrompt adds what options say, and prefers it", async () => {
    const prompt = await read(["-", "--lora-name", "a", "--cache-salt="], '{"token_ids":[1],"lora_name":"b","cache_salt":"c"}');
    expect(prompt).toEqual({ token_ids: [1], lora_name: "a", cache_salt: "" });
  });

  test("readPrompt refuses no prompt, no file, a folder, and a file that is far too large", async () => {
    expect(read([])).rejects.toThrow("Cannot read a prompt: found none");
    expect(read(["/does/not/exist"])).rejects.toThrow(
      'Cannot read the prompt in "/does/not/exist": found no file that can be read',
    );
    expect(read([tmpdir()])).rejects.toThrow("found no file that can be read");
    expect(read(["-"], "1 ".repeat(9_000_000))).rejects.toThrow("found more than 16777216 bytes");
  });
});
