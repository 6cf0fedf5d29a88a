/** Numbers of zmq.h (libzmq 4.2 and newer) that the room uses, by libzmq's own names. */

export const SOCKET_TYPE = { PAIR: 0, PUB: 1, SUB: 2, DEALER: 5, ROUTER: 6, XPUB: 9 } as const;

export type SocketType = keyof typeof SOCKET_TYPE;

/** Socket options; the comment says the width of the value. */
export const OPTION = {
  SUBSCRIBE: 6, // bytes
  RCVMORE: 13, // i32
  FD: 14, // i32
  EVENTS: 15, // i32
  LINGER: 17, // i32, ms
  RECONNECT_IVL: 18, // i32, ms
  RECONNECT_IVL_MAX: 21, // i32, ms
  MAXMSGSIZE: 22, // i64, bytes of one frame
  SNDHWM: 23, // i32, messages
  RCVHWM: 24, // i32, messages
  LAST_ENDPOINT: 32, // text
  CURVE_SERVER: 47, // i32, 1 for the side whose key the other knows
  CURVE_PUBLICKEY: 48, // Z85 text
  CURVE_SECRETKEY: 49, // Z85 text
  CURVE_SERVERKEY: 50, // Z85 text
  HEARTBEAT_IVL: 75, // i32, ms
  HEARTBEAT_TIMEOUT: 77, // i32, ms
} as const;

export const CONTEXT_OPTION = { MAX_SOCKETS: 2 } as const;

export const FLAG = { DONTWAIT: 1, SNDMORE: 2 } as const;

export const POLLIN = 1;

/** Bits of zmq_socket_monitor. */
export const MONITOR_EVENT = {
  CONNECT_RETRIED: 0x0004,
  DISCONNECTED: 0x0200,
  HANDSHAKE_FAILED_NO_DETAIL: 0x0800,
  HANDSHAKE_SUCCEEDED: 0x1000,
  HANDSHAKE_FAILED_PROTOCOL: 0x2000,
  HANDSHAKE_FAILED_AUTH: 0x4000,
} as const;

/** Value of HANDSHAKE_FAILED_PROTOCOL when the two sides are not set to the same security mechanism. */
export const MECHANISM_MISMATCH = 0x1100_0002;

/** libzmq numbers its own errors, and those a platform lacks, from here. */
export const ZMQ_ERRNO_BASE = 156_384_712;
