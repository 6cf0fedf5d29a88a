/**
 * The sockets of one client's thread: a subscriber that can be opened anew, one recovery request at a time, and a poller that
 * waits for those of them that may be read now.
 */

import type { Clock } from "#base";
import {
  type ConnectionEvent,
  MessageBuffer,
  Poller,
  type ReceivedBatch,
  RecoveryClient,
  type RecoveryReply,
  Subscriber,
  WakeupListener,
  ZmqContext,
  type ZmqSocket,
} from "#wire";
import type { ClientSettings } from "./client-options.ts";

export class ClientSockets {
  readonly #settings: ClientSettings;
  readonly #clock: Clock;
  readonly #context = ZmqContext.create();
  readonly #listener = new WakeupListener(this.#context);
  readonly #poller = new Poller<ZmqSocket>();
  readonly #buffer: MessageBuffer;
  #watched: readonly ZmqSocket[] = [];
  #subscriber: Subscriber | null = null;
  #recovery: RecoveryClient | null = null;

  constructor(settings: ClientSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#buffer = new MessageBuffer(settings.maxMessageBytes);
  }

  /** Where wake-up calls go. */
  get contextAddress(): number {
    return this.#context.address;
  }

  /** Clock time at which a connection may have something to tell although its sockets are silent; else Infinity. */
  get dueAtMs(): number {
    return Math.min(
      this.#subscriber?.connectionDueAtMs ?? Number.POSITIVE_INFINITY,
      this.#recovery?.dueAtMs ?? Number.POSITIVE_INFINITY,
    );
  }

  /** Waits for a call, for connections and, of the messages, for those that `may` be read. */
  wait(timeoutMs: number, may: { readLive: boolean; readReplies: boolean }): void {
    const sockets = [this.#listener.socket];
    if (this.#subscriber !== null) {
      sockets.push(this.#subscriber.monitorSocket);
      if (may.readLive) sockets.push(this.#subscriber.socket);
    }
    if (this.#recovery !== null && may.readReplies) sockets.push(this.#recovery.socket, this.#recovery.monitorSocket);
    this.#watch(sockets);
    this.#poller.wait(timeoutMs);
    this.#listener.drain();
  }

  /** Throws ZmqError for an endpoint that makes no sense. */
  openSubscriber(): void {
    const { endpoint, topic, maxMessageBytes } = this.#settings;
    this.#subscriber = new Subscriber({ ...this.#shared(), endpoint, topic, maxMessageBytes });
  }

  closeSubscriber(): void {
    if (this.#subscriber !== null) this.#release(this.#subscriber);
    this.#subscriber = null;
  }

  /** The payload of what is received is valid until the next message or reply. */
  receive(): ReceivedBatch | null {
    return this.#subscriber?.receive() ?? null;
  }

  connection(): ConnectionEvent | null {
    return this.#subscriber?.connection() ?? null;
  }

  /** Sends a recovery request in place of the one there may be. */
  ask(endpoint: string, answers: "snapshot" | "batches", start: number): void {
    this.endRecovery();
    const { maxMessageBytes } = this.#settings;
    this.#recovery = new RecoveryClient({ ...this.#shared(), endpoint, maxMessageBytes, answers });
    this.#recovery.ask(start);
  }

  receiveReply(): RecoveryReply | null {
    return this.#recovery?.receive() ?? null;
  }

  endRecovery(): void {
    if (this.#recovery !== null) this.#release(this.#recovery);
    this.#recovery = null;
  }

  /** Closes every socket. */
  close(): void {
    this.closeSubscriber();
    this.endRecovery();
    this.#watch([]);
    this.#listener.close();
  }

  /** After `close`, once the caller of wake-ups has closed its socket, for which this waits. */
  terminate(): void {
    this.#context.terminate();
  }

  #shared(): { context: ZmqContext; buffer: MessageBuffer; clock: Clock } {
    return { context: this.#context, buffer: this.#buffer, clock: this.#clock };
  }

  #release(client: Subscriber | RecoveryClient): void {
    this.#watch(this.#watched.filter((socket) => socket !== client.socket && socket !== client.monitorSocket));
    client.close();
  }

  #watch(sockets: readonly ZmqSocket[]): void {
    for (const socket of this.#watched) if (!sockets.includes(socket)) this.#poller.remove(socket);
    for (const socket of sockets) if (!this.#watched.includes(socket)) this.#poller.add(socket, socket);
    this.#watched = sockets;
  }
}
