/**
 * Every metric: its name, kind, labels and meaning. The exposition and the README's table come from here. No label is called `instance`
 * or `job`: with those Prometheus says whom it scraped.
 */

export interface Metric<Label extends string = string> {
  readonly name: string;
  readonly kind: "gauge" | "counter" | "histogram";
  readonly labels: readonly Label[];
  readonly help: string;
  /** Of a histogram: the upper bounds, but the last one, which is +Inf. */
  readonly buckets: readonly number[];
}

/** From 10 us, below the fastest match, to 5 s, above the slowest answer. */
const SECONDS = [1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 0.1, 0.5, 1, 5];
const TENTHS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const MARGINS = [0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1];

export const METRICS = {
  ready: gauge("warmpath_ready", [], "1 while queries can be answered, else 0"),
  serving: gauge("warmpath_serving", [], "1 while /readyz answers 200: a request could be placed; else 0"),

  streamSynchronized: gauge(
    "warmpath_stream_synchronized",
    ["instance_name", "rank"],
    "1 while the stream is synchronized, else 0",
  ),
  streamCoverageFull: gauge(
    "warmpath_stream_coverage_full",
    ["instance_name", "rank"],
    "1 while no block of the stream is unknown, else 0",
  ),
  streamBatchSeq: gauge("warmpath_stream_batch_sequence", ["instance_name", "rank"], "The last batch that the index includes"),
  streamBlocks: gauge(
    "warmpath_stream_blocks",
    ["instance_name", "rank", "tier"],
    "Blocks resident on the tier; replicas overlap",
  ),
  streamLag: gauge(
    "warmpath_stream_lag_seconds",
    ["instance_name", "rank"],
    "From the engine's timestamp of the last live batch to its being applied, by both machines' clocks",
  ),
  streamBatches: counter(
    "warmpath_stream_batches_total",
    ["instance_name", "rank"],
    "Batches decoded into the index: live, replayed, and snapshots",
  ),
  streamEvents: counter(
    "warmpath_stream_events_total",
    ["instance_name", "rank", "type"],
    "Events of those batches, without those left out; type: stored, removed, cleared",
  ),
  skippedEvents: counter(
    "warmpath_stream_skipped_events_total",
    ["instance_name", "rank", "reason"],
    "Events left out of a batch",
  ),
  drops: counter(
    "warmpath_stream_dropped_messages_total",
    ["instance_name", "rank", "reason"],
    "Live messages and checks not used",
  ),
  trailingBytes: counter("warmpath_stream_trailing_bytes_total", ["instance_name", "rank"], "Bytes after the end of batches"),
  streamProblems: counter(
    "warmpath_stream_problems_total",
    ["instance_name", "rank", "reason"],
    "How often the stream was found unsynchronized; reason gap: batches are missing",
  ),
  unsynchronizedSeconds: counter(
    "warmpath_stream_unsynchronized_seconds_total",
    ["instance_name", "rank"],
    "Time for which the stream was not synchronized",
  ),
  recoveriesAsked: counter(
    "warmpath_stream_recoveries_asked_total",
    ["instance_name", "rank"],
    "Snapshots and replays asked for",
  ),
  recoveriesAnswered: counter(
    "warmpath_stream_recoveries_answered_total",
    ["instance_name", "rank"],
    "Snapshots and replays answered to the end",
  ),
  recoveries: counter(
    "warmpath_stream_recoveries_total",
    ["instance_name", "rank", "kind", "outcome"],
    "Recoveries ended; kind: snapshot, replay, anew (nothing to ask), check; outcome: completed, failed, abandoned",
  ),
  ingestCrashes: counter("warmpath_ingest_crashes_total", [], "Ends of the ingest thread, each followed by a new start"),

  indexEntries: gauge("warmpath_index_entries", [], "Distinct blocks in the index"),
  indexBlocks: gauge("warmpath_index_blocks", ["tier"], "Blocks resident on the tier, of all streams"),
  indexUsedBytes: gauge("warmpath_index_used_bytes", [], "Memory that the tables of the index take"),
  indexLimitBytes: gauge("warmpath_index_limit_bytes", [], "Memory that they may take at most"),
  indexReservedBytes: gauge("warmpath_index_reserved_bytes", [], "Memory taken from the system for the index so far"),
  indexLoad: gauge("warmpath_index_load_ratio", [], "Share of the tables' memory that entries fill"),
  matchDuration: histogram("warmpath_index_match_duration_seconds", [], SECONDS, "Time of one match of a prompt"),
  busyMatches: counter("warmpath_index_busy_matches_total", [], "Matches given up because the index was not free in time"),

  decisions: counter(
    "warmpath_route_decisions_total",
    ["policy", "outcome"],
    "Decisions; outcome: placed, index-busy, or why refused: no-instance, no-prefill-side, suspect, load-unknown, needs-decode, mixed",
  ),
  decisionDuration: histogram(
    "warmpath_route_duration_seconds",
    [],
    SECONDS,
    "Time of one decision, the match included; refusals too",
  ),
  hitRatio: histogram(
    "warmpath_route_hit_ratio",
    [],
    TENTHS,
    "CAR: share of a placed prompt's tokens that its instance held, on any tier or by prediction",
  ),
  scoreMargin: histogram(
    "warmpath_route_score_margin",
    [],
    MARGINS,
    "CAR: by how much the second best prefill candidate cost more than the chosen one",
  ),
  inFlight: gauge(
    "warmpath_route_in_flight_requests",
    ["side"],
    "Requests placed and not known to be over, as far as the policy keeps books",
  ),
  predictedPrefixes: gauge(
    "warmpath_route_predicted_prefixes",
    [],
    "Prefixes that instances are credited with before they announce them",
  ),
  forgottenRequests: counter(
    "warmpath_route_forgotten_requests_total",
    [],
    "Requests let go for want of room, or because nothing was heard of them",
  ),
  unknownSteps: counter("warmpath_route_unknown_steps_total", [], "SLO_AWARE: reports about requests that are not in the books"),

  instances: gauge("warmpath_fleet_instances", ["role", "state"], "Instances registered"),
  refusedRegistrations: gauge("warmpath_fleet_refused_registrations", ["registry"], "Registrations that are not taken"),
  ignoredEvents: counter("warmpath_fleet_ignored_events_total", ["reason"], "Events of instances that meant nothing"),
  registryConnected: gauge(
    "warmpath_fleet_registry_connected",
    ["registry"],
    "1 while changes in etcd or Kubernetes are heard of, else 0",
  ),
  loadKnown: gauge(
    "warmpath_instance_load_known",
    ["instance_name"],
    "1 while a valid load report is young enough to count, else 0",
  ),
  loadAge: gauge("warmpath_instance_load_age_seconds", ["instance_name"], "Age of the newest load report"),
  waitingRequests: gauge(
    "warmpath_instance_waiting_requests",
    ["instance_name"],
    "Requests waiting, by the load report that counts",
  ),
  cacheUsage: gauge(
    "warmpath_instance_cache_usage_ratio",
    ["instance_name"],
    "Share of the device's KV cache in use, by the load report that counts",
  ),

  httpRequests: counter(
    "warmpath_http_requests_total",
    ["method", "route", "status"],
    "Requests answered; route: the pattern, or unrouted",
  ),
  httpDuration: histogram(
    "warmpath_http_request_duration_seconds",
    ["method", "route"],
    SECONDS,
    "Time from a request's head to its answer",
  ),

  processCpu: counter("process_cpu_seconds_total", [], "CPU time of all threads"),
  processMemory: gauge("process_resident_memory_bytes", [], "Resident memory, the index included"),
  processStart: gauge("process_start_time_seconds", [], "Start of the process, Unix time"),
  openFiles: gauge("process_open_fds", [], "Open file descriptors; where the system tells"),
  openFilesMax: gauge("process_max_fds", [], "Most file descriptors that may be open; where the system tells"),
  eventLoopDelay: gauge(
    "warmpath_event_loop_delay_seconds",
    ["statistic"],
    "How late the main thread's timers were since the last scrape; statistic: p50, p99, max",
  ),
};

function gauge<Label extends string>(name: string, labels: readonly Label[], help: string): Metric<Label> {
  return { name, kind: "gauge", labels, help, buckets: [] };
}

function counter<Label extends string>(name: string, labels: readonly Label[], help: string): Metric<Label> {
  return { name, kind: "counter", labels, help, buckets: [] };
}

function histogram<Label extends string>(
  name: string,
  labels: readonly Label[],
  buckets: readonly number[],
  help: string,
): Metric<Label> {
  return { name, kind: "histogram", labels, help, buckets };
}

/** The metrics as the README's Markdown table; ends with a newline. */
export function metricsTable(): string {
  const rows = Object.values<Metric>(METRICS).map(
    ({ name, kind, labels, help }) => `| \`${name}\` | ${kind} | ${labels.join(", ")} | ${help} |\n`,
  );
  return `| Metric | Kind | Labels | Meaning |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}
