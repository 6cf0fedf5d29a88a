/** What the main thread and the ingest thread say to each other. */

import type { LogFields } from "#base";
import type { StreamDescription, StreamReport } from "#domain";
import type { IndexHandle } from "#index";
import type { CurveKeyPair } from "#wire";
import type { EventStreamLimits } from "./event-stream.ts";

/** To the ingest thread. Each is followed by a wake-up call, except `start`, which begins the listening. */
export type IngestCommand =
  | {
      type: "start";
      index: IndexHandle;
      limits: EventStreamLimits;
      pulse: SharedArrayBuffer;
      /** Null where libzmq has no CURVE. */
      curveKeys: CurveKeyPair | null;
    }
  /** Ids are used again; `addition` tells one use from the next. */
  | { type: "add-stream"; id: number; addition: number; stream: StreamDescription }
  | { type: "remove-stream"; id: number }
  | { type: "report" }
  | { type: "stop" };

/** From the ingest thread. */
export type IngestReport =
  /** Listening; wake-up calls go to this ZeroMQ context. */
  | { type: "started"; contextAddress: number }
  /** What the index has under the id is that addition's from now on. */
  | { type: "stream-added"; id: number; addition: number }
  | { type: "reports"; reports: StreamReport[] }
  | { type: "log"; level: "info" | "warn" | "error"; message: string; fields: LogFields }
  /** Every socket is closed; nothing follows. */
  | { type: "stopped" };
