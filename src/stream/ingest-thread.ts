/**
 * The ingest thread's entry: a Worker that takes commands and runs the loop. An error in it ends the thread; the supervisor sees
 * that.
 */

import type { Logger } from "#base";
import { IngestLoop } from "./ingest-loop.ts";
import type { IngestCommand, IngestReport } from "./ingest-protocol.ts";

declare const self: Worker;

let loop: IngestLoop | null = null;

const logger: Logger = {
  info: (message, fields = {}) => report({ type: "log", level: "info", message, fields }),
  warn: (message, fields = {}) => report({ type: "log", level: "warn", message, fields }),
  error: (message, fields = {}) => report({ type: "log", level: "error", message, fields }),
};

self.onmessage = ({ data: command }: MessageEvent<IngestCommand>) => {
  switch (command.type) {
    case "start":
      loop = new IngestLoop(command, logger);
      report({ type: "started", contextAddress: loop.contextAddress });
      loop.run().then(() => report({ type: "stopped" }), fail);
      break;
    case "add-stream":
      loop?.addStream(command.id, command.stream);
      report({ type: "stream-added", id: command.id, addition: command.addition });
      break;
    case "remove-stream":
      loop?.removeStream(command.id);
      break;
    case "report":
      report({ type: "reports", reports: loop?.reports() ?? [] });
      break;
    case "stop":
      loop?.stop();
      break;
  }
};

function report(message: IngestReport): void {
  self.postMessage(message);
}

/** Out of the promise and out of the thread, where the supervisor sees it. */
function fail(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
