/** Endpoints on loopback at chosen moments. */

import { ZmqError, type ZmqSocket } from "#wire";

/** An endpoint on which nothing listens at this moment. */
export function reserveEndpoint(): string {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return `tcp://127.0.0.1:${listener.port}`;
}

/** The endpoint once bound; null while a socket that was just closed still has its port. */
export function tryBind(socket: ZmqSocket, endpoint: string): string | null {
  try {
    return socket.bind(endpoint);
  } catch (error) {
    if (error instanceof ZmqError && error.code === "EADDRINUSE") return null;
    throw error;
  }
}
