/** `warmpath status`: the fleet as Warmpath knows it, now or every second. */

import type { InstancesAnswer } from "#http";
import type { Command, CommandContext } from "./command.ts";
import type { WarmpathDoor } from "./door.ts";
import { DONE, REFUSED } from "./errors.ts";
import { printable } from "./paint.ts";
import { statusLines } from "./status-view.ts";
import type { Screen } from "./terminal.ts";
import { sentenceLines } from "./text-table.ts";
import { watch } from "./watch.ts";

/** The fleet, and why Warmpath is not ready; no reasons: it is. */
export interface Status {
  ready: boolean;
  reasons: string[];
  fleet: InstancesAnswer;
}

export const STATUS: Command = {
  name: "status",
  summary: "The fleet: instances, load, streams, blocks",
  usage: "[--watch] [OPTION]...",
  about: [
    "The fleet as a table: role and state of each instance, requests that wait there, how full its KV cache is, and how old " +
      "that report is; how many of its streams are synchronized, and the blocks on each tier. Below a row stands what is " +
      "wrong, in words.",
  ],
  done: "Warmpath is ready, or --watch was ended",
  refused: "It is not ready, or it refused to answer",
  options: { watch: { value: null, meaning: "Draw it anew every second, until Ctrl-C" } },
  operandsMax: 0,

  async run({ given, isJson, door, terminal }: CommandContext) {
    const frame = async () => {
      const status = await look(door);
      return { status, lines: isJson ? [jsonLine(status)] : statusLines(status, terminal.screen()) };
    };
    if (given.has("watch")) {
      await watch(
        terminal,
        async () => (await frame()).lines,
        (message, screen) => (isJson ? [unanswered(message)] : messageLines(message, screen)),
      );
      return DONE;
    }
    const { status, lines } = await frame();
    terminal.write(`${lines.join("\n")}\n`);
    return status.ready ? DONE : REFUSED;
  },
};

async function look(door: WarmpathDoor): Promise<Status> {
  const readiness = await door.look<object>("readyz");
  const { body: fleet } = await door.ask<InstancesAnswer>("v1/instances");
  if (readiness.isOk) return { ready: true, reasons: [], fleet };
  const { detail, errors } = readiness.problem;
  return { ready: false, reasons: errors?.map((error) => error.detail) ?? [detail], fleet };
}

/** In the place of a status that could not be had. */
function unanswered(message: string): string {
  return printable(JSON.stringify({ ready: false, reasons: [message] }));
}

function messageLines(message: string, screen: Screen): string[] {
  return message.split("\n").flatMap((text) => sentenceLines({ text, colour: "red" }, screen));
}

function jsonLine({ fleet, ...readiness }: Status): string {
  return printable(JSON.stringify({ ...readiness, ...fleet }));
}
