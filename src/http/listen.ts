/** The listening socket: opens it for the app, and closes it so that running requests still get their answers. */

import type { App } from "./app.ts";
import { DRAIN_TIMEOUT_MS, IDLE_TIMEOUT_SECONDS } from "./limits.ts";

export interface ListenOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Serves HTTPS and nothing else, with this certificate (and its issuers') and its private key, as PEM; null: HTTP. */
  tls?: { cert: string; key: string } | null;
  /** Milliseconds that `stop` waits for running requests. */
  drainTimeoutMs?: number;
  /** Seconds after which a connection is closed on which nothing happens, or too little. */
  idleTimeoutSeconds?: number;
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
export function listen(app: App, options: ListenOptions): Listener {
  const { port, drainTimeoutMs = DRAIN_TIMEOUT_MS } = options;
  const server = openServer(app, options);
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

function openServer(app: App, options: ListenOptions): Bun.Server<undefined> {
  const { host: hostname, port, tls = null, idleTimeoutSeconds = IDLE_TIMEOUT_SECONDS } = options;
  try {
    return Bun.serve({
      hostname,
      port,
      fetch: (request) => app.fetch(withPlainUrl(request)),
      // Bun's error pages show sources and stacks to the client.
      development: false,
      // A second process on the same port would take half of the requests.
      reusePort: false,
      // Whoever reads a body counts it, and refuses it with a problem document; the server's own limit has a bare answer. Of a
      // body that nobody reads nothing is kept.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: idleTimeoutSeconds,
      ...(tls && { tls }),
    });
  } catch (cause) {
    throw new ListenError(`Cannot listen on ${formatAddress(hostname, port)}: ${describeCause(cause)}`, { cause });
  }
}

/**
 * The app seeks a path behind the seven characters of "http://", where "https://" still has a slash of its own; and without a usable
 * Host, which HTTP/1.0 does without, the path is all there is. The routes ask for path and parameters alone, so the scheme and the
 * host that they see do not matter; a copy of the request would cost its body.
 */
function withPlainUrl(request: Request): Request {
  const { url } = request;
  if (url.startsWith("http://")) return request;
  const value = url.startsWith("https://") ? url.replace("https:", "http:") : url.replace(/^\/?/, "http://localhost/");
  return Object.defineProperty(request, "url", { value });
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
