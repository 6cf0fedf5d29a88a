/** The HTTP door of an engine that is played by a test: `/health` answers as the test wants, nothing else is there. */

export type Health = "alive" | "failing" | "silent";

export class EngineDoor {
  health: Health = "alive";
  /** Requests so far, answered or not. */
  requestCount = 0;
  readonly #server: Bun.Server<undefined>;

  /** Listens on this port of the loopback interface; 0 takes a free one. Throws when it is taken. */
  constructor(port = 0) {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port,
      fetch: (request) => this.#answer(new URL(request.url).pathname),
    });
  }

  /** The instance name that belongs to this door: `host:port`. */
  get name(): string {
    return `127.0.0.1:${this.#server.port}`;
  }

  /** Refuses connections from now on. */
  async close(): Promise<void> {
    await this.#server.stop(true);
  }

  #answer(path: string): Response | Promise<Response> {
    this.requestCount += 1;
    if (path !== "/health") return new Response(null, { status: 404 });
    switch (this.health) {
      case "alive":
        return new Response("ok");
      case "failing":
        return new Response("the engine is dead", { status: 500 });
      case "silent":
        return new Promise(() => {});
    }
  }
}
