/**
 * The live feed: server-sent events to everyone who has the page open, one a second and the same for all. It works only while
 * somebody listens; who reads too slowly is let go.
 */

import type { AppDependencies } from "../dependencies.ts";
import { Problem } from "../problem.ts";
import type { DashboardMessage } from "./message.ts";
import { describeAll, describeNews, positionNow } from "./state.ts";

/** Pages open at a time. Each costs a connection and a copy of what is sent, whatever the fleet does. */
const SUBSCRIBERS_MAX = 32;

/** Bytes that wait for one reader: several of the largest messages, of a fleet of thousands. */
const WAITING_BYTES_MAX = 8_388_608;

const INTERVAL_MS = 1000;

/** Seconds after which a refused page may try again. */
const RETRY_AFTER_SECONDS = 5;

export interface LiveFeedLimits {
  subscribersMax?: number;
  waitingBytesMax?: number;
  intervalMs?: number;
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

export class LiveFeed {
  readonly #sources: AppDependencies;
  readonly #subscribersMax: number;
  readonly #waitingBytesMax: number;
  readonly #intervalMs: number;
  readonly #subscribers = new Set<Controller>();
  readonly #encoder = new TextEncoder();
  #timer: Timer | null = null;
  #position: ReturnType<typeof positionNow>;

  constructor(sources: AppDependencies, limits: LiveFeedLimits = {}) {
    this.#sources = sources;
    this.#subscribersMax = limits.subscribersMax ?? SUBSCRIBERS_MAX;
    this.#waitingBytesMax = limits.waitingBytesMax ?? WAITING_BYTES_MAX;
    this.#intervalMs = limits.intervalMs ?? INTERVAL_MS;
    this.#position = positionNow(sources);
  }

  get subscriberCount(): number {
    return this.#subscribers.size;
  }

  /** A stream of events that ends when its reader goes or falls behind. Throws a 503 problem when there are too many readers. */
  subscribe(): ReadableStream<Uint8Array> {
    if (this.#subscribers.size >= this.#subscribersMax) {
      throw new Problem("too-many-watchers", {
        detail: `Cannot open the live feed: ${this.#subscribers.size} pages have it open, one of them must be closed`,
        headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
      });
    }
    let own: Controller;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          own = controller;
          this.#add(controller);
        },
        cancel: () => this.#remove(own),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: this.#waitingBytesMax }),
    );
  }

  #add(controller: Controller): void {
    this.#subscribers.add(controller);
    if (this.#timer === null) {
      this.#position = positionNow(this.#sources);
      this.#timer = setInterval(() => this.#sendNews(), this.#intervalMs);
      // It is the connections that keep a process alive.
      this.#timer.unref();
    }
    controller.enqueue(this.#encode(describeAll(this.#sources)));
  }

  #remove(controller: Controller): void {
    this.#subscribers.delete(controller);
    if (this.#subscribers.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #sendNews(): void {
    const next = positionNow(this.#sources);
    const news = this.#encode(describeNews(this.#sources, this.#position));
    this.#position = next;
    for (const controller of [...this.#subscribers]) {
      if ((controller.desiredSize ?? 0) >= news.length) controller.enqueue(news);
      else this.#letGo(controller);
    }
  }

  /** What waits is thrown away with the connection; the page opens another and gets everything anew. */
  #letGo(controller: Controller): void {
    this.#remove(controller);
    controller.error(new Error("Cannot send on: the reader is too slow"));
  }

  #encode(message: DashboardMessage): Uint8Array {
    return this.#encoder.encode(`data: ${JSON.stringify(message)}\n\n`);
  }
}
