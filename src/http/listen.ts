/** The listening socket: opens it for the app, and closes it so that running requests still get their answers. */

import type { App } from "./app.ts";
import { DRAIN_TIMEOUT_MS, IDLE_TIMEOUT_SECONDS, SERVER_BODY_BYTES_MAX } from "./limits.ts";

export interface ListenOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Milliseconds that `stop` waits for running requests. */
  drainTimeoutMs?: number;
}

export interface Listener {
  /** The port in use. */
  port: number;
  /** Refuses new connections, waits for running requests up to `drainTimeoutMs`, then closes what is left. */
  stop(): Promise<void>;
}

export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** Serves `app` on `host` and `port`; throws `ListenError` when they cannot be had. */
export function listen(app: App, { host, port, drainTimeoutMs = DRAIN_TIMEOUT_MS }: ListenOptions): Listener {
  const server = openServer(app, host, port);
  return {
    // A TCP server always has a port; only one on a Unix socket has none.
    port: server.port ?? port,
    async stop() {
      const timer = setTimeout(() => server.stop(true), drainTimeoutMs);
      await server.stop();
      clearTimeout(timer);
    },
  };
}

function openServer(app: App, hostname: string, port: number): Bun.Server<undefined> {
  try {
    return Bun.serve({
      hostname,
      port,
      fetch: app.fetch,
      // Bun's error pages show sources and stacks to the client.
      development: false,
      // A second process on the same port would take half of the requests.
      reusePort: false,
      maxRequestBodySize: SERVER_BODY_BYTES_MAX,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
    });
  } catch (cause) {
    throw new ListenError(`Cannot listen on ${formatAddress(hostname, port)}: ${describeCause(cause)}`, { cause });
  }
}

/** Bun reports a host that does not resolve as a port in use, so the sentence names both. */
function describeCause(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  if (code === "EADDRINUSE") return "the port is in use or the host does not resolve, a free port of this machine is needed";
  if (code === "EADDRNOTAVAIL") return "the host is not an address of this machine, one of its addresses is needed";
  if (code === "EACCES") return "the port is reserved, another port or the right to open it is needed";
  return cause instanceof Error ? cause.message : String(cause);
}

function formatAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
