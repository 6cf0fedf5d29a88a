/**
 * A program's ear to one engine rank's KV events: owns the thread that listens, follows the batch sequence and replays what was
 * missed. Batches are decoded and handed over in the program's own thread.
 */

import { WakeupCaller } from "#wire";
import { ClientCounters, type KvEventClientStats } from "./client-counters.ts";
import { formatMetrics } from "./client-metrics.ts";
import { type ClientConnection, type ClientSettings, resolveClientOptions } from "./client-options.ts";
import type { ClientCommand, ClientReport, ThreadReport } from "./client-protocol.ts";
import { Delivery } from "./delivery.ts";
import { KvEventClientError, type KvEventHandlers } from "./handlers.ts";

/** The thread closes its sockets within a turn, which the poll timeout bounds; then it is ended anyway. */
const CLOSE_GRACE_MS = 1000;

export type KvEventClientOptions = ClientConnection & KvEventHandlers;

interface RunningThread {
  worker: Worker;
  caller: WakeupCaller | null;
  started: PromiseWithResolvers<void>;
  stopped: PromiseWithResolvers<void>;
}

export class KvEventClient {
  readonly #settings: ClientSettings;
  readonly #counters = new ClientCounters();
  readonly #delivery: Delivery;
  #thread: RunningThread | null = null;
  #isUsed = false;

  /** Throws RangeError for options or AIBRIX_ZMQ_… variables out of range. Nothing is opened yet. */
  constructor(options: KvEventClientOptions) {
    this.#settings = resolveClientOptions(options, process.env);
    this.#delivery = new Delivery({
      settings: this.#settings,
      handlers: options,
      counters: this.#counters,
      onHandled: (reports, payloadBytes) => this.#command({ type: "handled", reports, payloadBytes }),
    });
  }

  /**
   * Starts listening, once; resolves when the thread listens, whether the publisher is there or not. Rejects with
   * KvEventClientError when it cannot: without libzmq, or for an endpoint that makes no sense.
   */
  async start(): Promise<void> {
    if (this.#isUsed)
      throw new KvEventClientError("thread", "Cannot start: the client was started or closed, a new one is needed");
    this.#isUsed = true;
    const worker = new Worker(new URL("./client-thread.ts", import.meta.url).href);
    const thread: RunningThread = { worker, caller: null, started: Promise.withResolvers(), stopped: Promise.withResolvers() };
    this.#thread = thread;
    worker.onmessage = ({ data }: MessageEvent<ClientReport | ThreadReport>) => this.#onMessage(thread, data);
    worker.onerror = (event) => this.#onThreadEnd(thread, event.message);
    worker.addEventListener("close", () => this.#onThreadEnd(thread, "its thread ended"));
    this.#command({ type: "start", settings: this.#settings });
    await thread.started.promise;
  }

  /** Stops listening; no handler is called from then on. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#isUsed = true;
    this.#delivery.stop();
    this.#counters.isConnected = false;
    const thread = this.#thread;
    if (thread === null) return;
    this.#command({ type: "stop" });
    this.#thread = null;
    thread.caller?.close();
    thread.started.resolve();
    await Promise.race([thread.stopped.promise, Bun.sleep(this.#settings.pollTimeoutMs + CLOSE_GRACE_MS)]);
    thread.worker.terminate();
  }

  stats(): KvEventClientStats {
    return this.#counters.stats();
  }

  /** The counters as Prometheus text, under AIBrix's names. */
  metrics(): string {
    return formatMetrics(this.#counters, this.#settings.podKey);
  }

  #command(command: ClientCommand): void {
    this.#thread?.worker.postMessage(command);
    this.#thread?.caller?.wake();
  }

  #onMessage(thread: RunningThread, message: ClientReport | ThreadReport): void {
    switch (message.type) {
      case "stopped":
        thread.stopped.resolve();
        break;
      case "started":
        if (thread !== this.#thread) return; // a caller now would keep the thread from ending its context
        thread.caller = new WakeupCaller(message.contextAddress);
        thread.started.resolve();
        break;
      default:
        this.#delivery.push(message);
    }
  }

  #onThreadEnd(thread: RunningThread, reason: string): void {
    thread.stopped.resolve();
    if (thread !== this.#thread) return;
    this.#thread = null;
    this.#counters.isConnected = false;
    thread.caller?.close();
    const message = `Cannot listen to ${this.#settings.endpoint}: ${reason}`;
    thread.started.reject(new KvEventClientError("thread", message));
    this.#delivery.fail("thread", message);
  }
}
