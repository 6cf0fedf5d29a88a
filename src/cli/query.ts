/** `warmpath query`: who holds how much of a prompt, on which tier. */

import type { InstanceMatch } from "#http";
import type { Command, CommandContext } from "./command.ts";
import { DONE } from "./errors.ts";
import { printable } from "./paint.ts";
import { PROMPT_HELP, PROMPT_OPTIONS, readPrompt } from "./prompt-input.ts";
import { matchLines } from "./query-view.ts";

export const QUERY: Command = {
  name: "query",
  summary: "Who holds how much of a prompt, by tier",
  usage: "TOKENS [OPTION]...",
  about: ["How far each instance and rank holds the prompt, by the fastest tier, with the reach drawn as a bar.", PROMPT_HELP],
  done: "Answered, whoever holds the prompt",
  refused: "Warmpath refused: not ready, busy, no or another token, or a prompt that it does not take",
  options: {
    ...PROMPT_OPTIONS,
    instance: { value: "NAME", meaning: "Only this instance; may be given several times", isList: true },
  },
  operandsMax: 1,

  async run({ given, isJson, door, terminal }: CommandContext) {
    const prompt = await readPrompt(given, terminal);
    const names = given.list("instance");
    const fields = names.length === 0 ? prompt : { ...prompt, instance_names: names };
    const { body, text } = await door.ask<{ matches: InstanceMatch[] }>("v1/internal/kv-cache/query", fields);
    const lines = isJson ? [printable(text)] : matchLines(body.matches, prompt.token_ids.length, terminal.screen());
    terminal.write(`${lines.join("\n")}\n`);
    return DONE;
  },
};
