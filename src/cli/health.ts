/** `warmpath health`: whether the process lives, for whoever starts it anew when it does not, as a container's health check. */

import type { Command, CommandContext } from "./command.ts";
import { DONE } from "./errors.ts";
import { printable } from "./paint.ts";

export const HEALTH: Command = {
  name: "health",
  summary: "Whether Warmpath lives, for health checks",
  usage: "[OPTION]...",
  about: ["Asks /healthz, which answers while the process lives, whether or not an instance can serve; status tells that."],
  done: "It lives",
  refused: "It refused to answer",
  options: {},
  operandsMax: 0,

  async run({ isJson, door, terminal }: CommandContext) {
    const { text } = await door.ask("healthz");
    terminal.write(`${isJson ? printable(text) : "Warmpath lives"}\n`);
    return DONE;
  },
};
