/** A TCP proxy on the loopback interface that can fail as networks do. */

import type { Socket } from "bun";
import { freePorts } from "./free-ports.ts";

interface Side {
  other: Socket<Side> | null;
  /** Bytes that the other side has not taken yet. */
  waiting: Buffer[];
}

type Mode =
  | "forwarding"
  /** Connections are taken and stay open, but nothing passes any more: a peer that is gone without a word. */
  | "silent"
  /** Connections end at once. */
  | "refusing";

export class TcpProxy {
  readonly port: number;
  readonly #targetPort: number;
  readonly #listener: { stop(closeActiveConnections?: boolean): void };
  readonly #clients = new Set<Socket<Side>>();
  /** Connections that went silent stay so. */
  readonly #silenced = new WeakSet<Socket<Side>>();
  #mode: Mode = "forwarding";

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
    [this.port] = freePorts(1);
    const proxy = this;
    this.#listener = Bun.listen<Side>({
      hostname: "127.0.0.1",
      port: this.port,
      socket: {
        open: (client) => proxy.#open(client),
        data: (client, bytes) => proxy.#pass(client, bytes),
        drain: flush,
        close(client) {
          proxy.#clients.delete(client);
          client.data.other?.end();
        },
      },
    });
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Connections that a client holds open. */
  get connectionCount(): number {
    return this.#clients.size;
  }

  goSilent(): void {
    this.#mode = "silent";
    for (const client of this.#clients) this.#silenced.add(client);
  }

  refuse(): void {
    this.#mode = "refusing";
    for (const client of this.#clients) client.end();
  }

  forward(): void {
    this.#mode = "forwarding";
  }

  stop(): void {
    this.#listener.stop(true);
  }

  #open(client: Socket<Side>): void {
    client.data = { other: null, waiting: [] };
    if (this.#mode === "refusing") return void client.end();
    this.#clients.add(client);
    if (this.#mode === "silent") return void this.#silenced.add(client);
    Bun.connect<Side>({
      hostname: "127.0.0.1",
      port: this.#targetPort,
      data: { other: client, waiting: client.data.waiting },
      socket: {
        open(target) {
          client.data = { other: target, waiting: [] };
          flush(target);
        },
        data: (_, bytes) => this.#passBack(client, bytes),
        drain: flush,
        close: () => void client.end(),
      },
    }).catch(() => client.end());
  }

  #pass(client: Socket<Side>, bytes: Buffer): void {
    if (this.#silenced.has(client)) return;
    const { other, waiting } = client.data;
    if (other === null) waiting.push(Buffer.from(bytes));
    else send(other, bytes);
  }

  #passBack(client: Socket<Side>, bytes: Buffer): void {
    if (!this.#silenced.has(client)) send(client, bytes);
  }
}

function send(socket: Socket<Side>, bytes: Buffer): void {
  socket.data.waiting.push(Buffer.from(bytes));
  flush(socket);
}

function flush(socket: Socket<Side>): void {
  const { waiting } = socket.data;
  while (waiting.length > 0) {
    const sent = socket.write(waiting[0]);
    if (sent < waiting[0].length) {
      waiting[0] = waiting[0].subarray(Math.max(sent, 0));
      return;
    }
    waiting.shift();
  }
}
