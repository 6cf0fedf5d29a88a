/**
 * Hands the thread's reports to the program's handlers, one after the other in the order of the wire, and counts them. A handler
 * that throws loses its batch and nothing else.
 */

import { type DecodedBatch, decodeEventBatch, MalformedBatchError } from "#wire";
import type { ClientCounters, ErrorType } from "./client-counters.ts";
import type { ClientSettings } from "./client-options.ts";
import type { ClientReport, DropReason } from "./client-protocol.ts";
import { KvEventClientError, type KvEventHandlers } from "./handlers.ts";

/** What is done is told in lots, which is cheap, and far below the thread's queue, so that it never waits for them. */
const HANDLED_LOT = 64;

export interface DeliveryOptions {
  settings: ClientSettings;
  handlers: KvEventHandlers;
  counters: ClientCounters;
  /** The program is done with so many reports, which held so many payload bytes. */
  onHandled(reports: number, payloadBytes: number): void;
}

export class Delivery {
  readonly #options: DeliveryOptions;
  /** Bounded by the thread, which sends no more than it was told are handled. */
  readonly #queue: ClientReport[] = [];
  #isDraining = false;
  #isStopped = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  push(report: ClientReport): void {
    if (this.#isStopped) return;
    this.#queue.push(report);
    if (!this.#isDraining) void this.#drain();
  }

  /** No handler is called after this, but one may be at work. */
  stop(): void {
    this.#isStopped = true;
    this.#queue.length = 0;
  }

  /** Counts an error and tells it. */
  fail(type: ErrorType, message: string, cause?: unknown): void {
    const { counters, handlers } = this.#options;
    counters.errors[type] += 1;
    handlers.onError?.(new KvEventClientError(type, message, cause === undefined ? {} : { cause }));
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    try {
      let reports = 0;
      let payloadBytes = 0;
      for (let report = this.#queue.shift(); report !== undefined; report = this.#queue.shift()) {
        this.#options.counters.report(report);
        await this.#deliver(report);
        reports += 1;
        if (report.type === "batch") payloadBytes += report.payload.length;
        if (reports < HANDLED_LOT && this.#queue.length > 0) continue;
        this.#options.onHandled(reports, payloadBytes);
        reports = 0;
        payloadBytes = 0;
      }
    } finally {
      this.#isDraining = false;
    }
  }

  async #deliver(report: ClientReport): Promise<void> {
    const { handlers, settings } = this.#options;
    switch (report.type) {
      case "batch":
        await this.#deliverBatch(report);
        break;
      case "gap":
        await this.#call("onGap", () => handlers.onGap?.({ from: report.from, to: report.to }));
        break;
      case "restart": {
        const { lastBatchSeq, foundBatchSeq } = report;
        await this.#call("onRestart", () => handlers.onRestart?.({ lastBatchSeq, foundBatchSeq }));
        break;
      }
      case "dropped":
        this.#tellDropped(report.reason);
        break;
      case "connection":
        this.#tellConnection(report.event);
        break;
      case "replay-failed":
        this.fail("replay", `Cannot replay batches from ${settings.replayEndpoint}: ${report.reason}`);
        break;
      case "replay-asked":
      case "replay-answered":
        break;
    }
  }

  async #deliverBatch({ batchSeq, source, payload }: ClientReport & { type: "batch" }): Promise<void> {
    const { counters, handlers, settings } = this.#options;
    const decoded = this.#decode(batchSeq, payload);
    if (decoded === null) return;
    const { timestampSeconds, events, skipped } = decoded;
    counters.batches += 1;
    for (const { type } of events) counters.eventsReceived[type] += 1;
    for (const reason of skipped) counters.skippedEvents[reason] += 1;
    const startedAtMs = performance.now();
    const isHandled = await this.#call("onEvents", () =>
      handlers.onEvents({ batchSeq, timestampSeconds, rank: settings.rank, source, events }),
    );
    counters.processing.add((performance.now() - startedAtMs) / 1000);
    if (isHandled) for (const { type } of events) counters.eventsProcessed[type] += 1;
  }

  /** Null, and told, when the bytes are no batch. */
  #decode(batchSeq: number, payload: Uint8Array): DecodedBatch | null {
    const { endpoint, engine } = this.#options.settings;
    try {
      return decodeEventBatch(payload, { engine });
    } catch (error) {
      if (!(error instanceof MalformedBatchError)) throw error;
      this.fail("batch", `Cannot read batch ${batchSeq} of ${endpoint}: ${error.payloadBytes} bytes are no event batch`, error);
      return null;
    }
  }

  /** Whether the handler did not throw. */
  async #call(name: string, handler: () => void | Promise<void>): Promise<boolean> {
    try {
      await handler();
      return true;
    } catch (cause) {
      this.fail("handler", `Cannot hand on what ${this.#options.settings.endpoint} sent: ${name} threw ${String(cause)}`, cause);
      return false;
    }
  }

  #tellDropped(reason: DropReason): void {
    const { endpoint, maxMessageBytes } = this.#options.settings;
    switch (reason) {
      case "malformed-frames":
        this.fail("message", `Cannot read a message of ${endpoint}: topic, batch sequence and payload are needed`);
        break;
      case "oversized":
        this.fail("message", `Cannot take a message of ${endpoint}: it is above ${maxMessageBytes} bytes`);
        break;
      case "repeat":
      case "foreign-topic":
        break;
    }
  }

  #tellConnection(event: (ClientReport & { type: "connection" })["event"]): void {
    const { endpoint, maxMessageBytes } = this.#options.settings;
    switch (event) {
      case "oversized":
        this.fail("connection", `Cannot take a message of ${endpoint}: it is above ${maxMessageBytes} bytes`);
        break;
      case "refused":
        this.fail("connection", `Cannot subscribe to ${endpoint}: it is no publisher`);
        break;
      case "connected":
      case "disconnected":
        break;
    }
  }
}
