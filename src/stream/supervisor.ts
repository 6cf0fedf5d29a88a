/**
 * The main thread's side of ingest: owns the index, runs the ingest thread over it, and begins anew, with an empty index and a
 * new thread, when that one crashes or hangs. What a dead thread left behind is never read again.
 */

import { assert, backoffDelayMs, type Logger } from "#base";
import type { StreamDescription, StreamReport } from "#domain";
import { createIndex, type IndexHandle, type IndexLimits, KvDirectory } from "#index";
import { type CurveKeyPair, WakeupCaller } from "#wire";
import { curveClientKeys } from "./curve-keys.ts";
import type { EventStreamLimits } from "./event-stream.ts";
import type { IngestCommand, IngestReport } from "./ingest-protocol.ts";
import { Pulse } from "./pulse.ts";

const RESTART = { firstMs: 500, maxMs: 30_000 };

/** A thread that ran this long before it crashed is started again at once. */
const RESTART_SETTLED_MS = 60_000;

/** The largest snapshot takes well under a second. */
const HANG_MS = 10_000;

/** Longer than a turn of the thread. */
const REPORT_TIMEOUT_MS = 1000;

/** The thread closes its sockets within a turn; then it is ended anyway. */
const STOP_TIMEOUT_MS = 600;

export interface IngestSupervisorOptions {
  limits: EventStreamLimits & IndexLimits;
  logger: Logger;
  /** The thread's entry; tests have one that crashes. */
  threadUrl?: URL;
  /** A thread that has not finished a turn for this long hangs, and is replaced. */
  hangMs?: number;
  /** Warmpath's own CURVE key, Z85; null: a fresh one for this process. */
  curveSecretKey?: string | null;
}

interface RunningThread {
  worker: Worker;
  caller: WakeupCaller | null;
  pulse: Pulse;
  startedAtMs: number;
  /** Additions that belong to its start, not done yet; what is added once it has started is not among them. */
  additionsAwaited: Set<number>;
  stopped: PromiseWithResolvers<void>;
}

/** A stream under its id. Additions are numbered, for ids are used again before the thread has caught up. */
interface AddedStream {
  addition: number;
  stream: StreamDescription;
}

export class IngestSupervisor {
  readonly directory: KvDirectory;
  readonly #options: Required<IngestSupervisorOptions>;
  readonly #curveKeys: CurveKeyPair | null;
  readonly #streams = new Map<number, AddedStream>();
  #additions = 0;
  #index: IndexHandle;
  #thread: RunningThread | null = null;
  #crash: string | null = null;
  #crashes = 0;
  #crashesInAll = 0;
  #restartTimer: Timer | null = null;
  #hasStarted = false;
  #isStopping = false;
  #reportsAwaited: ((reports: StreamReport[]) => void)[] = [];

  private constructor(options: IngestSupervisorOptions, index: IndexHandle) {
    this.#options = {
      threadUrl: new URL("./ingest-thread.ts", import.meta.url),
      hangMs: HANG_MS,
      curveSecretKey: null,
      ...options,
    };
    this.#curveKeys = curveClientKeys(this.#options.curveSecretKey, this.#options.logger);
    this.#index = index;
    this.directory = new KvDirectory(index);
  }

  /** Creates the index and starts the thread; streams are added afterwards. */
  static async start(options: IngestSupervisorOptions): Promise<IngestSupervisor> {
    const supervisor = new IngestSupervisor(options, await createIndex(options.limits));
    supervisor.#startThread();
    return supervisor;
  }

  /**
   * Adds a stream under the lowest free id and returns it; null when `maxStreams` are there already. It answers as not connected
   * until the thread has it.
   */
  addStream(stream: StreamDescription): number | null {
    for (let id = 0; id < this.#options.limits.maxStreams; id++) {
      if (this.#streams.has(id)) continue;
      this.#additions += 1;
      const added = { addition: this.#additions, stream };
      this.#streams.set(id, added);
      this.directory.addStream(id, stream, "awaited");
      if (this.#thread?.caller === null) this.#thread.additionsAwaited.add(added.addition);
      this.#command({ type: "add-stream", id, ...added });
      return id;
    }
    return null;
  }

  /** The stream is in no answer from now on; its id is free at once. */
  removeStream(id: number): void {
    const removed = this.#streams.get(id);
    assert(removed !== undefined, `stream id ${id} is in use`);
    this.#streams.delete(id);
    this.directory.removeStream(id);
    this.#thread?.additionsAwaited.delete(removed.addition);
    this.#command({ type: "remove-stream", id });
  }

  /** Null while the thread runs and has the streams that it was started with; else why queries cannot be answered. */
  notReady(): string[] | null {
    if (this.#crash !== null) return [`the ingest thread is being started again: ${this.#crash}`];
    if (this.#thread === null || this.#thread.caller === null) return ["the ingest thread is starting"];
    if (this.#thread.additionsAwaited.size > 0) return ["the streams are being set up"];
    return null;
  }

  /** The same until it is null for the first time: what goes on without the index when the thread is lost later. */
  notStarted(): string[] | null {
    if (this.#hasStarted) return null;
    const reasons = this.notReady();
    this.#hasStarted = reasons === null;
    return reasons;
  }

  /** How often the ingest thread has crashed or hung; each time it is started again. */
  get crashes(): number {
    return this.#crashesInAll;
  }

  /** What each stream has gone through; nothing when the thread does not answer in time. */
  reports(): Promise<StreamReport[]> {
    const { promise, resolve } = Promise.withResolvers<StreamReport[]>();
    this.#reportsAwaited.push(resolve);
    this.#command({ type: "report" });
    const timer = setTimeout(() => resolve([]), REPORT_TIMEOUT_MS);
    return promise.finally(() => clearTimeout(timer));
  }

  /** Ends the thread: its sockets are closed when this is done. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    const thread = this.#thread;
    if (thread === null) return;
    this.#command({ type: "stop" });
    thread.caller?.close();
    await Promise.race([thread.stopped.promise, Bun.sleep(STOP_TIMEOUT_MS)]);
    this.#release(thread);
  }

  #startThread(): void {
    const { threadUrl, hangMs, limits } = this.#options;
    const worker = new Worker(threadUrl.href);
    const thread: RunningThread = {
      worker,
      caller: null,
      pulse: new Pulse(hangMs, () => this.#onEnd(thread, `it has not finished a turn for ${hangMs} ms`)),
      startedAtMs: performance.now(),
      additionsAwaited: new Set(Array.from(this.#streams.values(), ({ addition }) => addition)),
      stopped: Promise.withResolvers(),
    };
    this.#thread = thread;
    thread.pulse.watch();
    worker.onmessage = ({ data }: MessageEvent<IngestReport>) => this.#onReport(thread, data);
    worker.onerror = (event) => this.#onEnd(thread, event.message);
    worker.addEventListener("close", () => this.#onEnd(thread, "it ended"));
    this.#command({ type: "start", index: this.#index, limits, pulse: thread.pulse.memory, curveKeys: this.#curveKeys });
    for (const [id, added] of this.#streams) this.#command({ type: "add-stream", id, ...added });
  }

  #answerReports(reports: StreamReport[]): void {
    for (const resolve of this.#reportsAwaited.splice(0)) resolve(reports);
  }

  #command(command: IngestCommand): void {
    this.#thread?.worker.postMessage(command);
    this.#thread?.caller?.wake();
  }

  #onReport(thread: RunningThread, report: IngestReport): void {
    if (thread !== this.#thread) return;
    switch (report.type) {
      case "started":
        if (this.#isStopping) return; // a caller now would keep the thread from ending its context
        thread.caller = new WakeupCaller(report.contextAddress);
        thread.caller.wake();
        this.#crash = null;
        break;
      case "stream-added":
        thread.additionsAwaited.delete(report.addition);
        if (this.#streams.get(report.id)?.addition === report.addition) this.directory.streamOpened(report.id);
        break;
      case "reports":
        this.#answerReports(report.reports);
        break;
      case "log":
        this.#options.logger[report.level](report.message, report.fields);
        break;
      case "stopped":
        thread.stopped.resolve();
        break;
    }
  }

  /** The thread is gone or as good as gone. Its index is dropped at once: nobody keeps it true any more. */
  #onEnd(thread: RunningThread, reason: string): void {
    if (thread !== this.#thread) return;
    this.#release(thread);
    thread.stopped.resolve();
    if (this.#isStopping) return;
    if (performance.now() - thread.startedAtMs > RESTART_SETTLED_MS) this.#crashes = 0;
    this.#crashes += 1;
    this.#crashesInAll += 1;
    this.directory.detach();
    this.#crash = reason;
    const delayMs = backoffDelayMs(this.#crashes, RESTART, Math.random());
    this.#options.logger.error("Ingest thread ended, starting it again", { reason, delay_ms: delayMs });
    this.#restartTimer = setTimeout(() => this.#restart(), delayMs);
  }

  #restart(): void {
    createIndex(this.#options.limits).then(
      (index) => {
        if (this.#isStopping) return;
        this.#index = index;
        this.directory.attach(index);
        this.#startThread();
      },
      (error: unknown) => {
        if (this.#isStopping) return;
        this.#crash = String(error);
        this.#restartTimer = setTimeout(() => this.#restart(), RESTART.maxMs);
      },
    );
  }

  #release(thread: RunningThread): void {
    this.#thread = null;
    this.#answerReports([]);
    thread.pulse.stop();
    thread.caller?.close();
    thread.worker.terminate();
  }
}
