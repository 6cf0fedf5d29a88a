/**
 * The entry of a client's thread: a Worker that takes commands and runs the loop. An error in it ends the thread, which is told.
 */

import { ClientLoop } from "./client-loop.ts";
import type { ClientCommand, ClientReport, ThreadReport } from "./client-protocol.ts";

declare const self: Worker;

let loop: ClientLoop | null = null;

self.onmessage = ({ data: command }: MessageEvent<ClientCommand>) => {
  switch (command.type) {
    case "start":
      loop = new ClientLoop(command.settings, report);
      tell({ type: "started", contextAddress: loop.contextAddress });
      loop.run().then(() => tell({ type: "stopped" }), fail);
      break;
    case "handled":
      loop?.handled(command.reports, command.payloadBytes);
      break;
    case "stop":
      loop?.stop();
      break;
  }
};

function report(message: ClientReport): void {
  self.postMessage(message, message.type === "batch" ? [message.payload.buffer] : []);
}

function tell(message: ThreadReport): void {
  self.postMessage(message);
}

/** Out of the promise and out of the thread, where the client sees it. */
function fail(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
