/** The service of a soak: a process of its own, from the sources or as the single executable. */

import { join } from "node:path";
import { writeKvEventsFile } from "../end-to-end/warmpath-process.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import type { HeapCount } from "./heap-probe.ts";
import type { SoakPlan } from "./plan.ts";
import { BLOCK_SIZE, EVENT_PORT_OFFSET, REPLAY_PORT_OFFSET, TOPIC } from "./ranks.ts";

const START = join(import.meta.dir, "..", "..", "scripts", "start.ts");
const HEAP_PROBE = join(import.meta.dir, "heap-probe.ts");

const START_TIMEOUT_MS = 20_000;

/** Lines of the log that a report shows. */
const LOG_LINES_KEPT = 200;

/** Fewer streams than the engines have, and little patience, so that limits and timeouts are met as well. */
const KV_EVENTS = {
  discovery: {
    enabled: true,
    block_size: BLOCK_SIZE,
    topic: TOPIC,
    event_port_offset: EVENT_PORT_OFFSET,
    replay_port_offset: REPLAY_PORT_OFFSET,
    refresh_interval_ms: 500,
  },
  max_streams: 24,
  max_blocks_per_stream: 4096,
  replay_timeout_ms: 500,
  resync_interval_ms: 2000,
};

const FLAGS = [
  "--log-format=json",
  "--suspect-timeout-ms=1500",
  "--lease-lost-heartbeat-timeout-ms=1000",
  "--instance-delete-probe-timeout-ms=300",
  "--instance-delete-probe-attempts=1",
  "--load-report-max-age-ms=2000",
  "--load-scrape-interval-ms=200",
  "--track-inflight=true",
  "--predict-residency-ms=500",
];

export class ServiceProcess {
  readonly url: string;
  readonly pid: number;
  readonly #process: Bun.Subprocess<"ignore", "ignore", "pipe">;
  readonly #logLines: string[] = [];
  readonly #errorLines: string[] = [];
  #heapCounted: ((count: HeapCount) => void) | null = null;
  readonly #hasProbe: boolean;

  private constructor(command: string[], port: number, hasProbe: boolean) {
    this.url = `http://127.0.0.1:${port}`;
    this.#hasProbe = hasProbe;
    this.#process = Bun.spawn(command, {
      stdio: ["ignore", "ignore", "pipe"],
      ...(hasProbe && { ipc: (count: HeapCount) => this.#heapCounted?.(count) }),
    });
    this.pid = this.#process.pid;
    this.#readLog();
  }

  /** Resolves when it answers. `etcdEndpoint` null: there is no etcd. */
  static async start({ executable, policy }: SoakPlan, etcdEndpoint: string | null): Promise<ServiceProcess> {
    const [port] = freePorts(1);
    const flags = [
      ...FLAGS,
      `--http-server-port=${port}`,
      `--load-balance-policy=${policy}`,
      `--kv-events-config-file=${await writeKvEventsFile(KV_EVENTS)}`,
      ...(etcdEndpoint === null ? [] : [`--etcd-addr=${etcdEndpoint}`]),
    ];
    const program = executable === null ? [process.execPath, "--preload", HEAP_PROBE, START] : [executable];
    const service = new ServiceProcess([...program, ...flags], port, executable === null);
    await eventually("the service answers", () => service.#isHealthy(), START_TIMEOUT_MS);
    return service;
  }

  /** Lines of level error, and those that are none of the log's, as the runtime's warnings; there should be none. */
  get errorLines(): readonly string[] {
    return this.#errorLines;
  }

  /** The log's end. */
  get logTail(): string {
    return this.#logLines.join("\n");
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** What the heap holds once garbage is collected; null for the executable, which nobody looks into. */
  async countHeap(): Promise<HeapCount | null> {
    if (!this.#hasProbe) return null;
    const counted = new Promise<HeapCount>((resolve) => {
      this.#heapCounted = resolve;
    });
    this.#process.send("count");
    return counted;
  }

  /** Asks it to stop; its exit code. */
  async stop(): Promise<number> {
    this.#process.kill("SIGTERM");
    return this.#process.exited;
  }

  async #readLog(): Promise<void> {
    let rest = "";
    for await (const text of this.#process.stderr.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      this.#logLines.push(...lines);
      this.#logLines.splice(0, this.#logLines.length - LOG_LINES_KEPT);
      this.#errorLines.push(...lines.filter((line) => !isOrdinary(line)).slice(0, LOG_LINES_KEPT));
    }
  }

  async #isHealthy(): Promise<boolean> {
    if (this.hasEnded) throw new Error(`Cannot start the service: it ended\n${this.logTail}`);
    const answer = await fetch(`${this.url}/healthz`).catch(() => null);
    return answer?.ok === true;
  }
}

function isOrdinary(line: string): boolean {
  return line.startsWith('{"time":') && !line.includes('"level":"error"');
}
