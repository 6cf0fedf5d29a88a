/** A measurement in a process of its own: the order goes in, and the result comes out, as JSON over its pipes. */

/** Runs `script` with the order; throws with what it wrote to standard error when it fails. */
export async function runProcess<Result>(script: URL, order: unknown): Promise<Result> {
  const process = Bun.spawn([Bun.argv[0], script.pathname], {
    stdin: Buffer.from(JSON.stringify(order)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([process.stdout.text(), process.stderr.text(), process.exited]);
  if (exitCode !== 0) throw new Error(`Cannot run ${script.pathname}: it ended with code ${exitCode}\n${stderr}`);
  return JSON.parse(stdout) as Result;
}

/** In the process: its order. */
export async function takeOrder<Order>(): Promise<Order> {
  return (await Bun.stdin.json()) as Order;
}

/** In the process: its result, once. */
export function giveResult<Result>(result: Result): void {
  console.log(JSON.stringify(result));
}
