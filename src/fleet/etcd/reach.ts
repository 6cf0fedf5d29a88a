/**
 * A look whether a member of etcd answers at all, before gRPC connects to it. On Bun a gRPC connection whose peer takes it but
 * says nothing, such as a stopped process, cannot be closed: each try would leave a socket behind. This one closes its own.
 */

import type { Socket } from "bun";

const ADDRESS = /^(?:(https?):\/\/)?\[?(.+?)\]?:(\d+)$/;

/** What an HTTP/2 client says first: the preface, and settings without any. A server answers with its own settings. */
const GREETING = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");

/**
 * Resolves when the member at `host:port`, or at a URL of http or https, has said something: over https the TLS handshake, which
 * is not judged here. Rejects with what happened instead, and at once when the signal aborts.
 */
export function reach(address: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const [, protocol, hostname, port] = ADDRESS.exec(address) ?? [];
  if (hostname === undefined) return Promise.reject(new Error(`Cannot reach ${JSON.stringify(address)}: host:port is needed`));
  const isTls = protocol === "https";
  return new Promise((resolve, reject) => {
    let socket: Socket | null = null;
    let isOver = false;
    const finish = (problem: string | null) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      socket?.terminate();
      if (problem === null) resolve();
      else reject(new Error(`Cannot reach ${address}: ${problem}`));
    };
    const abort = () => finish("Warmpath stops");
    const timer = setTimeout(() => finish(`it says nothing within ${timeoutMs} ms`), timeoutMs);
    signal.addEventListener("abort", abort);
    Bun.connect({
      hostname,
      port: Number(port),
      ...(isTls && { tls: { rejectUnauthorized: false } }),
      socket: {
        open(opened) {
          socket = opened;
          if (isOver) opened.terminate();
          else if (!isTls) opened.write(GREETING);
        },
        handshake: () => finish(null),
        data: () => finish(null),
        close: () => finish("it closed the connection"),
      },
    }).catch((error: NodeJS.ErrnoException) => finish(`connecting failed with ${error.code ?? error.message}`));
  });
}
