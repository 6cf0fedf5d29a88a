/** What one request may bring and how long a stop may take, each with its reason. */

import { TOKENS_MAX } from "#domain";

/** The longest token in any body form is ten digits, a comma and a space of JSON. */
const TOKEN_BYTES_MAX = 12;

/** Room for all fields beside the tokens: 1,024 instance names of up to 1,000 bytes, or multimodal keys of 10,000 blocks. */
const OTHER_FIELDS_BYTES_MAX = 1_048_576;

/** Bytes of one body: what the largest allowed prompt can need. A larger body is refused with a problem document. */
export const BODY_BYTES_MAX = TOKENS_MAX * TOKEN_BYTES_MAX + OTHER_FIELDS_BYTES_MAX;

/**
 * Bytes of a body that is refused as too large and taken in all the same, unread, so that whoever sends it reads why. A longer one
 * loses its connection.
 */
export const DISCARDED_BYTES_MAX = 2 * BODY_BYTES_MAX;

/** Prompts of one body: together they may have as many tokens as one prompt, which bounds how long their decisions take. */
export const BATCH_REQUESTS_MAX = 256;

/** Bytes of a report of how a request fares: a phase and a number. */
export const STEP_BYTES_MAX = 1024;

/** Bytes of a registration: 1,024 ranks with two endpoints of 30 characters, or thousands of profiling samples. */
export const REGISTRATION_BYTES_MAX = 65_536;

/** Bytes of a heartbeat: older xLLM engines add the hashes of some 20,000 blocks, which Warmpath ignores. */
export const HEARTBEAT_BYTES_MAX = 1_048_576;

/** Bytes of all bodies of one of these routes on their way at once: 64 of the largest heartbeats, or 100,000 usual ones. */
export const SMALL_BODIES_BYTES_MAX = 67_108_864;

/** Bytes of all prompts on their way at once: 19 of the largest, or thousands of usual ones. */
export const PROMPT_BODIES_BYTES_MAX = 268_435_456;

/**
 * Seconds after which a connection is closed on which nothing arrives, or less than 16 KiB a second of a body: a client that stalls in
 * its body holds that body's memory. Within a head Bun has ten seconds of its own, and 16 KiB or 200 lines.
 */
export const IDLE_TIMEOUT_SECONDS = 10;

/** Milliseconds that a stop waits for running requests; every answer takes far less, so whatever is left has stalled. */
export const DRAIN_TIMEOUT_MS = 1_000;
