/**
 * Keeps repeats from flooding the log: of events that are alike the first few are handed on at once, the others are counted, and one
 * event at the end of the window tells how many there were and when the last was. Nothing is left out without being counted.
 *
 * Alike are events of the same level and message whose identity fields are equal; numbers within a reason are not compared, for a
 * stream that loses batches again and again names other batches each time.
 */

import type { Clock } from "./clock.ts";
import type { LogEvent, LogFields } from "./log-event.ts";

export interface RepeatLimits {
  /** Events of a window that are handed on as they come; at least 1, so the first always is. */
  writtenMax: number;
  windowMs: number;
  /** Kinds of events that are told apart at once; what is beyond is handed on uncounted. */
  windowsMax: number;
}

/** Five show the rhythm of a fault. 1024: eight kinds of events of each of 128 streams. */
export const REPEAT_LIMITS: RepeatLimits = { writtenMax: 5, windowMs: 60_000, windowsMax: 1024 };

/** `first` and `second` are the two instances whose endpoints overlap. */
const IDENTITY_FIELDS = ["instance", "rank", "endpoint", "first", "second", "reason"] as const;

interface Window {
  startedAtMs: number;
  written: number;
  folded: number;
  /** Of those folded. */
  last: LogEvent;
}

export class RepeatFolder {
  readonly #take: (event: LogEvent) => void;
  readonly #clock: Clock;
  readonly #limits: RepeatLimits;
  /** In the order of their starts, hence of their ends: all are equally long. */
  readonly #windows = new Map<string, Window>();
  #timer: Timer | null = null;

  constructor(take: (event: LogEvent) => void, clock: Clock, limits = REPEAT_LIMITS) {
    this.#take = take;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Hands the event on, or counts it. */
  add(event: LogEvent): void {
    this.endDue();
    // An answer to a client has promised this very line.
    if (event.fields.request_id !== undefined) {
      this.#take(event);
      return;
    }
    const key = identity(event);
    const window = this.#windows.get(key);
    if (window !== undefined && window.written === this.#limits.writtenMax) {
      window.folded += 1;
      window.last = event;
      return;
    }
    if (window !== undefined) window.written += 1;
    else if (this.#windows.size < this.#limits.windowsMax) {
      this.#windows.set(key, { startedAtMs: this.#clock.nowMs(), written: 1, folded: 0, last: event });
      this.#arm();
    }
    this.#take(event);
  }

  /** Ends the windows whose time is over; it happens by itself, and with every event. */
  endDue(): void {
    const nowMs = this.#clock.nowMs();
    for (const [key, window] of this.#windows) {
      if (nowMs - window.startedAtMs < this.#limits.windowMs) break;
      this.#end(key, window);
    }
  }

  /** Ends every window: nothing counted is left untold. */
  flush(): void {
    for (const [key, window] of this.#windows) this.#end(key, window);
  }

  #end(key: string, { startedAtMs, folded, last }: Window): void {
    this.#windows.delete(key);
    if (folded === 0) return;
    const seconds = Math.ceil((this.#clock.nowMs() - startedAtMs) / 1000);
    this.#take({
      time: new Date(),
      level: last.level,
      message: `${last.message}, ${folded} more in ${seconds} s`,
      fields: { ...last.fields, repeats: folded, last_time: last.time.toISOString() },
    });
  }

  /** A timer for the window that ends first; it does not keep the process alive. */
  #arm(): void {
    const [first] = this.#windows.values();
    if (this.#timer !== null || first === undefined) return;
    // Its end may have passed while lines were written for a slow reader; the runtime warns of times in the past.
    const endsInMs = Math.max(0, first.startedAtMs + this.#limits.windowMs - this.#clock.nowMs());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.endDue();
      this.#arm();
    }, Math.ceil(endsInMs));
    this.#timer.unref();
  }
}

function identity({ level, message, fields }: LogEvent): string {
  return JSON.stringify([level, message, ...IDENTITY_FIELDS.map((name) => comparable(name, fields))]);
}

function comparable(name: (typeof IDENTITY_FIELDS)[number], fields: LogFields): LogFields[Lowercase<string>] | undefined {
  const value = fields[name];
  return name === "reason" && typeof value === "string" ? value.replaceAll(/\d+/g, "0") : value;
}
