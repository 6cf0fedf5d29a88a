/**
 * Errors of libzmq calls. What a peer or the network may cause is a value elsewhere; these mean a wrong endpoint or a broken
 * process.
 */

import { constants } from "node:os";
import { ZMQ_ERRNO_BASE } from "./constants.ts";

const NAME_BY_ERRNO = new Map<number, string>([
  ...Object.entries(constants.errno).map(([name, errno]): [number, string] => [errno, name]),
  [ZMQ_ERRNO_BASE + 51, "EFSM"],
  [ZMQ_ERRNO_BASE + 52, "ENOCOMPATPROTO"],
  [ZMQ_ERRNO_BASE + 53, "ETERM"],
  [ZMQ_ERRNO_BASE + 54, "EMTHREAD"],
]);

export const EAGAIN = constants.errno.EAGAIN;
export const EINTR = constants.errno.EINTR;

/** A libzmq call failed: `Cannot bind "tcp://127.0.0.1:80": EACCES (Permission denied)`. */
export class ZmqError extends Error {
  override readonly name = "ZmqError";

  /** `action` completes "Cannot …"; `text` is zmq_strerror's. */
  constructor(
    readonly action: string,
    readonly errno: number,
    text: string,
  ) {
    super(`Cannot ${action}: ${errnoName(errno)} (${text})`);
  }

  /** `EADDRINUSE`, `ETERM`, …, or `errno 1234` for a number without a name. */
  get code(): string {
    return errnoName(this.errno);
  }
}

function errnoName(errno: number): string {
  return NAME_BY_ERRNO.get(errno) ?? `errno ${errno}`;
}

/** A file that was tried as libzmq, and why it does not serve. */
export interface LibzmqAttempt {
  path: string;
  reason: string;
}

/** No loadable libzmq: the message lists every path tried with its reason. */
export class LibzmqNotFoundError extends Error {
  override readonly name = "LibzmqNotFoundError";

  constructor(
    remedy: string,
    readonly attempts: readonly LibzmqAttempt[],
  ) {
    const lines = attempts.map(({ path, reason }) => `\n  ${JSON.stringify(path)}: ${reason}`);
    super(`Cannot load libzmq: ${attempts.length} tried and none serves, ${remedy}${lines.join("")}`);
  }
}
