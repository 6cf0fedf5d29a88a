/** What the service says of itself under /metrics, as far as a soak compares it. */

export interface ExpositionFigures {
  /** Series that name an instance. */
  instanceSeries: number;
  /** Series whose labels are of closed sets. */
  otherSeries: number;
  indexEntries: number;
  indexUsedBytes: number;
  indexReservedBytes: number;
  /** Requests in the policy's books, and prefixes that instances are credited with. */
  bookEntries: number;
  ingestCrashes: number;
  /** Seconds that the event loop was late since the last look, at most. */
  eventLoopDelaySeconds: number;
}

export function readExposition(text: string): ExpositionFigures {
  const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const instanceSeries = series.filter((line) => line.includes('instance_name="')).length;
  const sumOf = (start: string) => {
    const values = series.filter((line) => line.startsWith(start)).map((line) => Number(line.slice(line.lastIndexOf(" "))));
    return values.reduce((sum, value) => sum + value, 0);
  };
  return {
    instanceSeries,
    otherSeries: series.length - instanceSeries,
    indexEntries: sumOf("warmpath_index_entries "),
    indexUsedBytes: sumOf("warmpath_index_used_bytes "),
    indexReservedBytes: sumOf("warmpath_index_reserved_bytes "),
    bookEntries: sumOf("warmpath_route_in_flight_requests{") + sumOf("warmpath_route_predicted_prefixes "),
    ingestCrashes: sumOf("warmpath_ingest_crashes_total "),
    eventLoopDelaySeconds: sumOf('warmpath_event_loop_delay_seconds{statistic="max"}'),
  };
}
