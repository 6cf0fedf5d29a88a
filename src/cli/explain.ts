/** `warmpath explain`: where a prompt would go, and why. Warmpath decides in a dry run, so that asking changes nothing. */

import type { DecisionAnswer } from "#http";
import type { Command, CommandContext } from "./command.ts";
import { DONE } from "./errors.ts";
import { decisionLines } from "./explain-view.ts";
import { printable } from "./paint.ts";
import { PROMPT_HELP, PROMPT_OPTIONS, readPrompt } from "./prompt-input.ts";

export const EXPLAIN: Command = {
  name: "explain",
  summary: "Where a prompt would go, and why; nothing is decided",
  usage: "TOKENS [OPTION]...",
  about: [
    "Where a request with this prompt would go now, and every candidate with the parts of its score, the best first. Nothing " +
      "is decided: no turn is taken, nothing is counted or remembered.",
    PROMPT_HELP,
  ],
  done: "The request could be placed",
  refused:
    "It could not, for the reasons told; or Warmpath refused: not ready, busy, no or another token, or a prompt that it does not take",
  options: PROMPT_OPTIONS,
  operandsMax: 1,

  async run({ given, isJson, door, terminal }: CommandContext) {
    const prompt = await readPrompt(given, terminal);
    const { body, text } = await door.ask<DecisionAnswer>("v1/route", { ...prompt, dry_run: true, explain: true });
    const lines = isJson ? [printable(text)] : decisionLines(body, prompt.token_ids.length, terminal.screen());
    terminal.write(`${lines.join("\n")}\n`);
    return DONE;
  },
};
