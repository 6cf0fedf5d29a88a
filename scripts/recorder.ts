/** Listens to one publisher and writes down every message as it came, whatever it is, and how the connection fared. */

import { systemClock as clock } from "#base";
import { MessageBuffer, Poller, Subscriber, ZmqContext } from "#wire";
import type { RecordingEntry } from "./recording.ts";

/** Far above any batch: what breaks Warmpath's own limit is to be seen here. */
const MESSAGE_BYTES_MAX = 67_108_864;

/** How late a stop is noticed. */
const TURN_MS = 100;

export interface RecorderOptions {
  endpoint: string;
  /** Topics that begin with it are recorded. */
  topic: string;
  signal: AbortSignal;
  onEntry(entry: RecordingEntry): void;
  /** A message above 64 MiB or of more than 8 frames cannot be written down whole. */
  onLost(frames: number): void;
}

/** Records until `signal`. Throws ZmqError for an endpoint that makes no sense. */
export async function recordPublisher({ endpoint, topic, signal, onEntry, onLost }: RecorderOptions): Promise<void> {
  const startedAtMs = clock.nowMs();
  const context = ZmqContext.create();
  const buffer = new MessageBuffer(MESSAGE_BYTES_MAX);
  const open = () => new Subscriber({ context, endpoint, topic, maxMessageBytes: MESSAGE_BYTES_MAX, buffer, clock });
  const poller = new Poller<null>();
  let subscriber = open();
  const watch = () => {
    for (const socket of [subscriber.socket, subscriber.monitorSocket]) poller.add(socket, null);
  };
  const release = () => {
    for (const socket of [subscriber.socket, subscriber.monitorSocket]) poller.remove(socket);
    subscriber.close();
  };
  const sinceStartMs = () => Math.round((clock.nowMs() - startedAtMs) * 1000) / 1000;
  watch();
  while (!signal.aborted) {
    poller.wait(Math.min(TURN_MS, subscriber.connectionDueAtMs - clock.nowMs()));
    for (let result = subscriber.socket.receive(buffer); result !== "would-block"; result = subscriber.socket.receive(buffer)) {
      if (result === "truncated") onLost(buffer.frameCount);
      else onEntry({ kind: "message", atMs: sinceStartMs(), frames: framesOf(buffer) });
    }
    for (let event = subscriber.connection(); event !== null; event = subscriber.connection()) {
      onEntry({ kind: "connection", atMs: sinceStartMs(), event });
      if (event === "connected" || event === "disconnected") continue;
      release(); // it is dead, which shows only after half a second, so that opening again at once does no harm
      subscriber = open();
      watch();
    }
    await new Promise((resolve) => setImmediate(resolve)); // signals and timers
  }
  release();
  context.terminate();
}

function framesOf(buffer: MessageBuffer): Uint8Array[] {
  return Array.from({ length: buffer.frameCount }, (_, index) => buffer.frame(index).slice());
}
