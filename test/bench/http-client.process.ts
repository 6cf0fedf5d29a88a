/**
 * A process that asks one question over several connections for some time. It speaks plain HTTP/1.1 over sockets, so that what
 * is measured is the server: this costs as little as a client can.
 */

import { giveResult, takeOrder } from "./child-process.ts";
import { HttpConnection } from "./http-connection.ts";
import { encodeRequest, type QueryForm } from "./query-request.ts";

export interface ClientOrder {
  port: number;
  form: QueryForm;
  tokens: number[];
  connections: number;
  /** First some time that does not count, then some that does. */
  warmUpMs: number;
  durationMs: number;
}

export interface ClientReport {
  requestsPerSecond: number;
  /** The last answer; all others were the same. */
  answer: string;
}

const { port, form, tokens, connections, warmUpMs, durationMs } = await takeOrder<ClientOrder>();
const request = encodeRequest(form, Uint32Array.from(tokens));
let answers = 0;
let answer = "";

function onAnswer(body: string): void {
  if (answer !== "" && body !== answer)
    fail(new Error(`Cannot compare answers: ${body} came after ${answer}, equal ones are needed`));
  answer = body;
  answers += 1;
}

/** Ends the process: an error thrown where a socket calls would be lost. */
function fail(error: Error): never {
  console.error(error.message);
  process.exit(1);
}

for (let n = 0; n < connections; n++) await HttpConnection.open(port, request, onAnswer, fail);
await Bun.sleep(warmUpMs);
answers = 0;
const startedAtMs = performance.now();
await Bun.sleep(durationMs);
giveResult<ClientReport>({ requestsPerSecond: (answers * 1000) / (performance.now() - startedAtMs), answer });
process.exit(0);
