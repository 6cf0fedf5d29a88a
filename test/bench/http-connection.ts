/** One keep-alive connection that sends the same request again whenever its answer has arrived. */

import type { Socket } from "bun";

export class HttpConnection {
  readonly #request: Uint8Array;
  readonly #onAnswer: (answer: string, latencyMs: number) => void;
  readonly #onFailure: (error: Error) => void;
  #sent = 0;
  #received = "";
  #askedAtMs = 0;

  private constructor(
    request: Uint8Array,
    onAnswer: (answer: string, latencyMs: number) => void,
    onFailure: (error: Error) => void,
  ) {
    this.#request = request;
    this.#onAnswer = onAnswer;
    this.#onFailure = onFailure;
  }

  /**
   * Opens a connection to this machine and sends the request. `onAnswer` gets each answer's body and how long it took, and `onFailure` what went
   * wrong: another status than 200, an answer without a length, or the end of the connection.
   */
  static async open(
    port: number,
    request: Uint8Array,
    onAnswer: (answer: string, latencyMs: number) => void,
    onFailure: (error: Error) => void,
  ): Promise<Socket> {
    const connection = new HttpConnection(request, onAnswer, onFailure);
    return Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: (socket) => connection.#ask(socket),
        drain: (socket) => connection.#send(socket),
        data: (socket, bytes) => connection.#receive(socket, bytes),
        close: () => connection.#fail("it was closed"),
        error: (_socket, error) => connection.#fail(error.message),
      },
    });
  }

  #ask(socket: Socket): void {
    this.#sent = 0;
    this.#received = "";
    this.#askedAtMs = performance.now();
    this.#send(socket);
  }

  #send(socket: Socket): void {
    this.#sent += socket.write(this.#request, this.#sent);
  }

  #receive(socket: Socket, bytes: Buffer): void {
    this.#received += bytes.toString("latin1");
    const headLength = this.#received.indexOf("\r\n\r\n") + 4;
    if (headLength < 4) return;
    const length = /^HTTP\/1\.1 200 [\s\S]*\r\ncontent-length: (\d+)\r\n/i.exec(this.#received)?.[1];
    if (length === undefined) {
      this.#fail(`the answer begins with ${JSON.stringify(this.#received.slice(0, headLength))}`);
    } else if (this.#received.length >= headLength + Number(length)) {
      this.#onAnswer(this.#received.slice(headLength), performance.now() - this.#askedAtMs);
      this.#ask(socket);
    }
  }

  #fail(found: string): void {
    this.#onFailure(new Error(`Cannot use the connection: ${found}, an answer 200 with a length is needed`));
  }
}
