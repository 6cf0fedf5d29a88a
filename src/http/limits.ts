/** What one request may bring and how long a stop may take, each with its reason. */

import { TOKENS_MAX } from "#domain";

/** The longest token in any body form is ten digits, a comma and a space of JSON. */
const TOKEN_BYTES_MAX = 12;

/** Room for all fields beside the tokens: 1,024 instance names of up to 1,000 bytes, or multimodal keys of 10,000 blocks. */
const OTHER_FIELDS_BYTES_MAX = 1_048_576;

/** Bytes of one body: what the largest allowed prompt can need. A larger body is refused with a problem document. */
export const BODY_BYTES_MAX = TOKENS_MAX * TOKEN_BYTES_MAX + OTHER_FIELDS_BYTES_MAX;

/**
 * Where the server itself ends a body, with a bare 413: above `BODY_BYTES_MAX`, so that an ordinary mistake still gets a problem
 * document, and low enough to bound a chunked body, whose length is not announced.
 */
export const SERVER_BODY_BYTES_MAX = 2 * BODY_BYTES_MAX;

/** Bytes of a registration: 1,024 ranks with two endpoints of 30 characters, or thousands of profiling samples. */
export const REGISTRATION_BYTES_MAX = 65_536;

/** Bytes of a heartbeat: older xLLM engines add the hashes of some 20,000 blocks, which Warmpath ignores. */
export const HEARTBEAT_BYTES_MAX = 1_048_576;

/** Bytes of all bodies of one of these routes on their way at once: 64 of the largest heartbeats, or 100,000 usual ones. */
export const SMALL_BODIES_BYTES_MAX = 67_108_864;

/** Bytes of all prompts on their way at once: 39 that do not say how long they are, or thousands that say so. */
export const BODIES_BYTES_MAX = 1_073_741_824;

/** Seconds without a byte after which a connection is closed: a client that stalls in its body holds that body's memory. */
export const IDLE_TIMEOUT_SECONDS = 10;

/** Milliseconds that a stop waits for running requests; every answer takes far less, so whatever is left has stalled. */
export const DRAIN_TIMEOUT_MS = 1_000;
