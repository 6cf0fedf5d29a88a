/** Sockets without a network: a test puts in what arrives and sees what the stream has opened. */

import type { ConnectionEvent, ReceivedBatch, RecoveryReply } from "#wire";
import { ZmqError } from "#wire";
import type { StreamSockets } from "../../src/stream/sockets.ts";

/** EMFILE: too many open files. */
export const NO_DESCRIPTORS = new ZmqError("open a SUB socket", 24, "Too many open files");

export class FakeSockets implements StreamSockets {
  readonly connections: ConnectionEvent[] = [];
  readonly messages: ReceivedBatch[] = [];
  readonly replies: RecoveryReply[] = [];
  /** How often each was opened so far. */
  subscribers = 0;
  requests = 0;
  /** From which batch on the stream asked, the last time; null before the first. */
  askedFrom: number | null = null;
  isSubscriberOpen = false;
  isAsking = false;
  /** What opening a socket fails with. */
  failure: Error | null = null;
  dueAtMs = Number.POSITIVE_INFINITY;

  openSubscriber(): void {
    if (this.failure !== null) throw this.failure;
    this.subscribers += 1;
    this.isSubscriberOpen = true;
  }

  closeSubscriber(): void {
    this.isSubscriberOpen = false;
    this.connections.length = 0;
    this.messages.length = 0;
  }

  connection(): ConnectionEvent | null {
    return this.connections.shift() ?? null;
  }

  receive(): ReceivedBatch | null {
    return this.messages.shift() ?? null;
  }

  ask(start: number): void {
    if (this.failure !== null) throw this.failure;
    this.endRecovery();
    this.requests += 1;
    this.askedFrom = start;
    this.isAsking = true;
  }

  receiveReply(): RecoveryReply | null {
    return this.replies.shift() ?? null;
  }

  endRecovery(): void {
    this.isAsking = false;
    this.replies.length = 0;
  }
}
