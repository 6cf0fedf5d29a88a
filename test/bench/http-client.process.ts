/**
 * A process that asks one question over several connections for some time. It speaks plain HTTP/1.1 over sockets, so that what
 * is measured is the server: this costs as little as a client can.
 */

import { giveResult, takeOrder } from "./child-process.ts";
import { quantile } from "./figures.ts";
import { HttpConnection } from "./http-connection.ts";
import { encodeRequest, type QueryForm } from "./query-request.ts";

export interface ClientOrder {
  port: number;
  path: string;
  form: QueryForm;
  tokens: number[];
  /** Fields of the question besides its tokens. */
  fields: Record<string, string>;
  connections: number;
  /** First some time that does not count, then some that does. */
  warmUpMs: number;
  durationMs: number;
}

export interface ClientReport {
  requestsPerSecond: number;
  /** From a request to its answer. */
  p50Ms: number;
  p99Ms: number;
  /** The last answer; all others were the same. */
  answer: string;
}

const { port, path, form, tokens, fields, connections, warmUpMs, durationMs } = await takeOrder<ClientOrder>();
const request = encodeRequest(path, form, Uint32Array.from(tokens), fields);
let latenciesMs: number[] = [];
let answer = "";

function onAnswer(body: string, latencyMs: number): void {
  if (answer !== "" && body !== answer)
    fail(new Error(`Cannot compare answers: ${body} came after ${answer}, equal ones are needed`));
  answer = body;
  latenciesMs.push(latencyMs);
}

/** Ends the process: an error thrown where a socket calls would be lost. */
function fail(error: Error): never {
  console.error(error.message);
  process.exit(1);
}

for (let n = 0; n < connections; n++) await HttpConnection.open(port, request, onAnswer, fail);
await Bun.sleep(warmUpMs);
latenciesMs = [];
const startedAtMs = performance.now();
await Bun.sleep(durationMs);
giveResult<ClientReport>({
  requestsPerSecond: (latenciesMs.length * 1000) / (performance.now() - startedAtMs),
  p50Ms: quantile(latenciesMs, 0.5),
  p99Ms: quantile(latenciesMs, 0.99),
  answer,
});
process.exit(0);
