/**
 * The client's thread: hands what arrives to the follower and keeps its timers. It reads only as much as the program keeps up
 * with: then ZeroMQ's own bounds hold the publisher back, it drops, and the gap is seen and replayed.
 */

import { assert, backoffDelayMs, type Clock, systemClock } from "#base";
import type { ConnectionEvent, RecoveryReply } from "#wire";
import { BatchFollower } from "./batch-follower.ts";
import type { ClientSettings } from "./client-options.ts";
import { type ClientReport, QUEUE_BYTES_MAX, QUEUE_REPORTS_MAX, type ReplayFailure } from "./client-protocol.ts";
import { ClientSockets } from "./client-sockets.ts";
import type { FollowRules } from "./follow.ts";

const RECONNECT_INTERVAL_MAX_MS = 30_000;

/** Live batches wait for about 20 s while a replay endpoint is silent, then go on without the missing ones. */
const REPLAY_FAILURES_MAX = 3;

/** Messages taken before commands are looked at. */
const TURN_MESSAGES_MAX = 64;

const NEVER = Number.POSITIVE_INFINITY;

export class ClientLoop {
  readonly #settings: ClientSettings;
  readonly #send: (report: ClientReport) => void;
  readonly #clock: Clock = systemClock;
  readonly #sockets: ClientSockets;
  readonly #follower: BatchFollower;
  #reopenings = 0;
  #reopenAtMs = NEVER;
  #retryAtMs = NEVER;
  #replayFailsAtMs = NEVER;
  #queuedReports = 0;
  #queuedBytes = 0;
  #isStopping = false;

  /** `send` takes a batch's payload for its own. Throws ZmqError for an endpoint that makes no sense. */
  constructor(settings: ClientSettings, send: (report: ClientReport) => void) {
    this.#settings = settings;
    this.#send = send;
    this.#follower = new BatchFollower(rulesOf(settings), {
      report: (report) => this.#report(report),
      ask: (start) => this.#ask(start),
      pause: (failures) => {
        this.#retryAtMs = this.#backedOffMs(failures);
      },
    });
    this.#sockets = new ClientSockets(settings, this.#clock);
    this.#sockets.openSubscriber();
  }

  /** Where wake-up calls go. */
  get contextAddress(): number {
    return this.#sockets.contextAddress;
  }

  /** The program is done with so many reports, which held so many payload bytes. */
  handled(reports: number, payloadBytes: number): void {
    this.#queuedReports -= reports;
    this.#queuedBytes -= payloadBytes;
  }

  /** Ends the loop after the turn at hand. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Runs until `stop`, then closes every socket; the caller of wake-ups must have closed its own. */
  async run(): Promise<void> {
    try {
      while (!this.#isStopping) {
        this.#turn();
        await new Promise((resolve) => setImmediate(resolve)); // commands are tasks of this thread's event loop
      }
    } finally {
      this.#sockets.close();
    }
    this.#sockets.terminate();
  }

  #turn(): void {
    this.#sockets.wait(Math.min(this.#settings.pollTimeoutMs, this.#dueAtMs() - this.#clock.nowMs()), {
      readLive: this.#hasRoom && this.#follower.kind === "following",
      readReplies: this.#hasRoom,
    });
    let messages = 0;
    while (messages < TURN_MESSAGES_MAX && this.#hasRoom && this.#takeMessage()) messages += 1;
    this.#takeConnections();
    this.#keepTime();
  }

  get #hasRoom(): boolean {
    return this.#queuedReports < QUEUE_REPORTS_MAX && this.#queuedBytes < QUEUE_BYTES_MAX;
  }

  #dueAtMs(): number {
    return Math.min(this.#sockets.dueAtMs, this.#reopenAtMs, this.#retryAtMs, this.#replayFailsAtMs);
  }

  /** Takes one message of the kind that the follower takes now; false when none waits. */
  #takeMessage(): boolean {
    switch (this.#follower.kind) {
      case "joining":
      case "pausing":
        return false;
      case "following":
        return this.#takeLive();
      case "asking":
        return this.#takeReply();
    }
  }

  #takeLive(): boolean {
    const message = this.#sockets.receive();
    if (message === null) return false;
    const { kind } = message;
    if (kind === "batch") this.#follower.take({ source: "live", batchSeq: message.batchSeq, payload: message.payload });
    else this.#report({ type: "dropped", reason: kind });
    return true;
  }

  #takeReply(): boolean {
    const reply = this.#sockets.receiveReply();
    if (reply === null) return false;
    this.#replayFailsAtMs = this.#clock.nowMs() + this.#settings.replayTimeoutMs;
    this.#onReply(reply);
    this.#endUnwantedRequest();
    return true;
  }

  #onReply(reply: RecoveryReply): void {
    switch (reply.kind) {
      case "batch":
        this.#follower.take({ source: "replay", batchSeq: reply.batchSeq, payload: reply.payload });
        break;
      case "snapshot":
        this.#report({ type: "replay-answered" });
        this.#follower.take({ source: "snapshot", batchSeq: reply.watermark, payload: reply.payload });
        break;
      case "end":
        this.#report({ type: "replay-answered" });
        this.#follower.ended();
        break;
      case "malformed":
      case "oversized":
      case "refused":
        this.#failReplay(reply.kind);
        break;
      case "mechanism-mismatch":
      case "handshake-failed":
      case "client-denied":
      case "handshake-broken-off":
        this.#failReplay("refused");
        break;
    }
  }

  #failReplay(reason: ReplayFailure): void {
    this.#report({ type: "replay-failed", reason });
    this.#follower.failed();
  }

  #endUnwantedRequest(): void {
    if (this.#follower.kind === "asking") return;
    this.#sockets.endRecovery();
    this.#replayFailsAtMs = NEVER;
  }

  /** Live messages are drained first: those of a lost connection stay receivable. */
  #takeConnections(): void {
    for (let event = this.#sockets.connection(); event !== null; event = this.#sockets.connection()) {
      const told = toldConnection(event);
      if (told === null) continue;
      this.#report({ type: "connection", event: told });
      this.#onConnection(told);
    }
  }

  #onConnection(event: ToldConnection): void {
    switch (event) {
      case "connected":
        this.#reopenings = 0;
        this.#follower.connected();
        break;
      case "disconnected":
        break; // libzmq connects again by itself
      case "oversized":
      case "refused":
        this.#sockets.closeSubscriber();
        this.#reopenings += 1;
        this.#reopenAtMs = this.#backedOffMs(this.#reopenings);
        break;
    }
  }

  #keepTime(): void {
    const nowMs = this.#clock.nowMs();
    if (this.#reopenAtMs <= nowMs) {
      this.#reopenAtMs = NEVER;
      this.#sockets.openSubscriber();
    }
    if (this.#retryAtMs <= nowMs) {
      this.#retryAtMs = NEVER;
      this.#follower.retryDue();
    }
    if (this.#follower.kind !== "asking") return;
    if (!this.#hasRoom) this.#replayFailsAtMs = nowMs + this.#settings.replayTimeoutMs; // it is not the endpoint that is slow
    if (this.#replayFailsAtMs > nowMs) return;
    this.#failReplay("timeout");
    this.#endUnwantedRequest();
  }

  #ask(start: number): void {
    const { engine, replayEndpoint, replayTimeoutMs } = this.#settings;
    assert(replayEndpoint !== null, "without a replay endpoint nothing is asked");
    this.#sockets.ask(replayEndpoint, engine === "xllm" ? "snapshot" : "batches", start);
    this.#replayFailsAtMs = this.#clock.nowMs() + replayTimeoutMs;
    this.#report({ type: "replay-asked" });
  }

  #report(report: ClientReport): void {
    this.#queuedReports += 1;
    if (report.type === "batch") this.#queuedBytes += report.payload.length;
    this.#send(report);
  }

  #backedOffMs(attempt: number): number {
    const limits = { firstMs: this.#settings.reconnectIntervalMs, maxMs: RECONNECT_INTERVAL_MAX_MS };
    return this.#clock.nowMs() + backoffDelayMs(attempt, limits, Math.random());
  }
}

type ToldConnection = (ClientReport & { type: "connection" })["event"];

/** The library speaks in the clear: a publisher that demands more refuses it. Null: libzmq tries again, which is no news. */
function toldConnection(event: ConnectionEvent): ToldConnection | null {
  switch (event) {
    case "mechanism-mismatch":
    case "handshake-failed":
    case "client-denied":
      return "refused";
    case "handshake-broken-off":
      return null;
    case "connected":
    case "disconnected":
    case "oversized":
    case "refused":
      return event;
  }
}

/** xLLM answers with its whole state and counts from 1; vLLM and SGLang replay their last batches and count from 0. */
function rulesOf({ engine, replayEndpoint }: ClientSettings): FollowRules {
  const recovery = engine === "xllm" ? "snapshot" : "replay";
  return {
    recovery: replayEndpoint === null ? "none" : recovery,
    firstBatchSeq: engine === "xllm" ? 1 : 0,
    failuresMax: REPLAY_FAILURES_MAX,
  };
}
