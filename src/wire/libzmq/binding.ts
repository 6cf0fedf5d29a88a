/** The C functions of libzmq that the room calls, typed; the only place that names them. Nothing here keeps state or decides. */

import { dlopen, FFIType } from "bun:ffi";
import { ZmqError } from "./errors.ts";

const { cstring, i32, i64, ptr, u64 } = FFIType;

const FUNCTIONS = {
  zmq_version: { args: [ptr, ptr, ptr], returns: FFIType.void },
  zmq_errno: { args: [], returns: i32 },
  zmq_strerror: { args: [i32], returns: cstring },
  zmq_ctx_new: { args: [], returns: ptr },
  zmq_ctx_set: { args: [ptr, i32, i32], returns: i32 },
  zmq_ctx_term: { args: [ptr], returns: i32 },
  zmq_socket: { args: [ptr, i32], returns: ptr },
  zmq_close: { args: [ptr], returns: i32 },
  zmq_bind: { args: [ptr, ptr], returns: i32 },
  zmq_connect: { args: [ptr, ptr], returns: i32 },
  zmq_setsockopt: { args: [ptr, i32, ptr, u64], returns: i32 },
  zmq_getsockopt: { args: [ptr, i32, ptr, ptr], returns: i32 },
  zmq_send: { args: [ptr, ptr, u64, i32], returns: i32 },
  zmq_recv: { args: [ptr, ptr, u64, i32], returns: i32 },
  zmq_poll: { args: [ptr, i32, i64], returns: i32 },
  zmq_socket_monitor: { args: [ptr, ptr, i32], returns: i32 },
  zmq_has: { args: [ptr], returns: i32 },
  zmq_curve_keypair: { args: [ptr, ptr], returns: i32 },
  zmq_curve_public: { args: [ptr, ptr], returns: i32 },
} as const;

export type LibzmqFunctions = ReturnType<typeof dlopen<typeof FUNCTIONS>>["symbols"];

/** A loaded libzmq. */
export interface Libzmq {
  path: string;
  /** major, minor, patch */
  version: readonly [number, number, number];
  functions: LibzmqFunctions;
}

/** Loads the shared library at `path`; throws bun:ffi's error when it does not load or lacks a function. */
export function openLibzmq(path: string): Libzmq {
  const functions = dlopen(path, FUNCTIONS).symbols;
  const parts = [new Int32Array(1), new Int32Array(1), new Int32Array(1)] as const;
  functions.zmq_version(...parts);
  return { path, version: [parts[0][0], parts[1][0], parts[2][0]], functions };
}

/** The error of the libzmq call that has just failed in this thread. */
export function lastZmqError(functions: LibzmqFunctions, action: string): ZmqError {
  const errno = functions.zmq_errno();
  return new ZmqError(action, errno, String(functions.zmq_strerror(errno)));
}

/** `text` as C wants it: UTF-8 with a zero at the end. */
export function toCString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}
