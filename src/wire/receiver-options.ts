/** What everything that receives from an engine is made with. */

import type { Clock } from "#base";
import type { ZmqContext } from "./libzmq/context.ts";
import type { CurveClient } from "./libzmq/curve.ts";
import type { MessageBuffer } from "./libzmq/message-buffer.ts";

export interface ReceiverOptions {
  context: ZmqContext;
  /** `tcp://host:port` of the engine's socket. */
  endpoint: string;
  /** Largest frame that is accepted. */
  maxMessageBytes: number;
  /** Shared by all receivers of the thread, made for at least `maxMessageBytes`. */
  buffer: MessageBuffer;
  clock: Clock;
  /** Null and absent alike: in the clear. */
  curve?: CurveClient | null;
}
