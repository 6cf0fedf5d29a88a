/**
 * A process that sends many requests at once, each over a connection of its own, and prints what came back. The order comes over
 * standard input, the result leaves over standard output, both JSON.
 */

export interface ClientOrder {
  url: string;
  /** One for each request. */
  bodies: object[];
}

export interface ClientAnswer {
  status: number;
  /** Text of the answer. */
  body: string;
  /** From the moment when all were sent. */
  ms: number;
}

const { url, bodies } = (await Bun.stdin.json()) as ClientOrder;
const startedAtMs = performance.now();
const answers = await Promise.all(
  bodies.map(async (body): Promise<ClientAnswer> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.text(), ms: performance.now() - startedAtMs };
  }),
);
console.log(JSON.stringify(answers));
