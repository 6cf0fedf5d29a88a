/** A stream's sockets: a subscriber for as long as the stream wants one, and a recovery client for one request at a time. */

import { assert, type Clock } from "#base";
import type { StreamDescription } from "#domain";
import {
  type ConnectionEvent,
  type CurveClient,
  type CurveKeyPair,
  CurveUnavailableError,
  type MessageBuffer,
  type Poller,
  type ReceivedBatch,
  RecoveryClient,
  type RecoveryReply,
  Subscriber,
  type ZmqContext,
} from "#wire";

/** What a stream needs of the network; the simulation has another. Payloads are valid until the next receive. */
export interface StreamSockets {
  /** Opens a subscriber in place of the one there may be. */
  openSubscriber(): void;
  closeSubscriber(): void;
  connection(): ConnectionEvent | null;
  receive(): ReceivedBatch | null;
  /** Opens a recovery client in place of the one there may be, and asks. */
  ask(start: number): void;
  receiveReply(): RecoveryReply | null;
  endRecovery(): void;
  /** Clock time at which there may be something to tell although nothing arrives; else Infinity. */
  readonly dueAtMs: number;
}

/** What the streams of one thread share. */
export interface ThreadSockets<Owner> {
  context: ZmqContext;
  buffer: MessageBuffer;
  poller: Poller<Owner>;
  clock: Clock;
  maxMessageBytes: number;
  /** Warmpath's own keys for streams that have a `curveServerKey`; null where libzmq has no CURVE. */
  curveKeys: CurveKeyPair | null;
}

export class ZmqStreamSockets<Owner> implements StreamSockets {
  readonly #stream: StreamDescription;
  readonly #thread: ThreadSockets<Owner>;
  readonly #owner: Owner;
  #subscriber: Subscriber | null = null;
  #recovery: RecoveryClient | null = null;

  /** `owner` is what the poller tells when one of the sockets is readable. */
  constructor(stream: StreamDescription, thread: ThreadSockets<Owner>, owner: Owner) {
    this.#stream = stream;
    this.#thread = thread;
    this.#owner = owner;
  }

  openSubscriber(): void {
    this.closeSubscriber();
    const { endpoint, topic } = this.#stream;
    this.#subscriber = new Subscriber({ ...this.#thread, endpoint, topic, curve: this.#curve() });
    this.#thread.poller.add(this.#subscriber.socket, this.#owner);
    this.#thread.poller.add(this.#subscriber.monitorSocket, this.#owner);
  }

  closeSubscriber(): void {
    if (this.#subscriber !== null) this.#release(this.#subscriber);
    this.#subscriber = null;
  }

  connection(): ConnectionEvent | null {
    return this.#subscriber?.connection() ?? null;
  }

  receive(): ReceivedBatch | null {
    return this.#subscriber?.receive() ?? null;
  }

  ask(start: number): void {
    this.endRecovery();
    const { engine, replayEndpoint } = this.#stream;
    assert(replayEndpoint !== null, "a stream asks for a recovery where there is an endpoint for it");
    const answers = engine === "xllm" ? "snapshot" : "batches";
    this.#recovery = new RecoveryClient({ ...this.#thread, endpoint: replayEndpoint, answers, curve: this.#curve() });
    this.#thread.poller.add(this.#recovery.socket, this.#owner);
    this.#thread.poller.add(this.#recovery.monitorSocket, this.#owner);
    this.#recovery.ask(start);
  }

  receiveReply(): RecoveryReply | null {
    return this.#recovery?.receive() ?? null;
  }

  endRecovery(): void {
    if (this.#recovery !== null) this.#release(this.#recovery);
    this.#recovery = null;
  }

  get dueAtMs(): number {
    return Math.min(
      this.#subscriber?.connectionDueAtMs ?? Number.POSITIVE_INFINITY,
      this.#recovery?.dueAtMs ?? Number.POSITIVE_INFINITY,
    );
  }

  #curve(): CurveClient | null {
    const { curveServerKey: serverKey } = this.#stream;
    if (serverKey === null) return null;
    const { curveKeys } = this.#thread;
    if (curveKeys === null) throw new CurveUnavailableError();
    return { role: "client", serverKey, ...curveKeys };
  }

  #release(client: Subscriber | RecoveryClient): void {
    this.#thread.poller.remove(client.socket);
    this.#thread.poller.remove(client.monitorSocket);
    client.close();
  }
}
