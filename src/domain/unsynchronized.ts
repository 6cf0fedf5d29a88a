/**
 * Why a stream is not synchronized: a closed union with two numbers, so that it crosses threads as three words of shared
 * memory and becomes a sentence only where a person reads it.
 */

/** What a reason's number says of the socket that it speaks of. */
export const STREAM_SOCKET = { event: 0, replay: 1 } as const;

export type StreamSocket = keyof typeof STREAM_SOCKET;

function endpointOf(socket: number): string {
  return socket === STREAM_SOCKET.event ? "the event endpoint" : "the replay endpoint";
}

const SENTENCES = {
  "not-connected": () => "not connected to the publisher yet",
  "snapshot-awaited": () => "waiting for the engine's snapshot",
  "replay-awaited": () => "waiting for the batches that the publisher still has",
  disconnected: () => "the publisher disconnected",
  "not-a-publisher": () => "the event endpoint refuses subscribers",
  "not-a-replay-endpoint": () => "the replay endpoint refuses requests",
  "socket-failed": (errno: number) => `cannot open a socket: errno ${errno}`,
  gap: (expected: number, found: number) => `gap: batch ${expected} expected, batch ${found} arrived`,
  restart: (last: number, found: number) => `publisher restarted: batch ${found} arrived after batch ${last}`,
  "batch-malformed": (batchSeq: number) => `batch ${batchSeq} cannot be decoded`,
  "frames-malformed": (frames: number) => `a message of ${frames} frames is not topic, batch sequence, payload`,
  "wrong-rank": (found: number, configured: number) => `rank ${found}, configured ${configured}`,
  "wrong-block-size": (found: number, configured: number) => `block size ${found}, configured ${configured}`,
  "wrong-token-count": (tokens: number, hashes: number) => `${tokens} tokens for ${hashes} blocks`,
  "event-malformed": (batchSeq: number) => `batch ${batchSeq} holds an event that cannot be understood`,
  "unknown-parent": (batchSeq: number) => `batch ${batchSeq} names a parent block that was never announced`,
  "message-oversized": (limitBytes: number) => `message larger than max_message_bytes ${limitBytes}`,
  "block-limit": (limitBlocks: number) => `more blocks than max_blocks_per_stream ${limitBlocks}`,
  "memory-limit": (limitBytes: number) => `index memory of ${limitBytes} bytes is used up`,
  "buffer-limit": (limitBytes: number) => `more live batches during recovery than max_buffered_bytes ${limitBytes}`,
  "snapshot-timeout": (timeoutMs: number) => `no complete snapshot within replay_timeout_ms ${timeoutMs}`,
  "snapshot-malformed": () => "the snapshot cannot be decoded",
  "snapshot-oversized": (limitBytes: number) => `snapshot larger than max_message_bytes ${limitBytes}`,
  "snapshot-behind": (watermark: number, first: number) => `snapshot ends at batch ${watermark}, live batches begin at ${first}`,
  "replay-timeout": (timeoutMs: number) => `no answer to a replay request within replay_timeout_ms ${timeoutMs}`,
  "replay-malformed": () => "the answer to a replay request is none",
  "replay-oversized": (limitBytes: number) => `a replayed batch is larger than max_message_bytes ${limitBytes}`,
  "large-batch": (batchSeq: number) => `batch ${batchSeq} is being applied in parts`,
  "ingest-stopped": () => "the ingest thread ended and is being started again",
  closed: () => "the stream was closed",
  "curve-handshake-failed": (socket: number) =>
    `${endpointOf(socket)} breaks off the CURVE handshake: it has another key than curve_server_key, or speaks no CURVE`,
  "curve-client-denied": (socket: number) => `${endpointOf(socket)} denies Warmpath's own CURVE key`,
  "curve-not-spoken": (socket: number) => `a curve_server_key is set, but ${endpointOf(socket)} does not speak CURVE`,
  "curve-key-missing": (socket: number) => `${endpointOf(socket)} demands CURVE or a login, but no curve_server_key is set`,
  "handshake-broken-off": () =>
    "the event endpoint breaks off the handshake: nothing is behind it, or it demands CURVE and no curve_server_key is set",
  "curve-unavailable": () => "a curve_server_key is set, but the libzmq that is loaded has no CURVE",
} as const satisfies Record<string, (first: number, second: number) => string>;

export type UnsynchronizedReason = keyof typeof SENTENCES;

/** The position of a reason is its code in shared memory, so that memory never written says "not-connected". */
export const UNSYNCHRONIZED_REASONS = Object.keys(SENTENCES) as UnsynchronizedReason[];

export interface Unsynchronized {
  reason: UnsynchronizedReason;
  /** The numbers that the reason's sentence names, 0 where it names fewer. */
  first: number;
  second: number;
}

export function unsynchronized(reason: UnsynchronizedReason, first = 0, second = 0): Unsynchronized {
  return { reason, first, second };
}

/** The reason as a sentence for the person on call: `gap: batch 12 expected, batch 14 arrived`. */
export function describeUnsynchronized({ reason, first, second }: Unsynchronized): string {
  return SENTENCES[reason](first, second);
}
