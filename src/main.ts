/** The program: serves without a command or with `serve`, else runs the command that its first argument names. */

import { version } from "../package.json" with { type: "json" };

/** A proxy leads to what is outside; engines and Warmpath are inside, and `fetch` would ask them through it all the same. */
const PROXY_VARIABLES = ["HTTP_PROXY", "http_proxy"];

/** Runs Warmpath with these arguments until it is done, or a signal ends it. */
export async function main(args: string[]): Promise<void> {
  for (const name of PROXY_VARIABLES) delete process.env[name];
  const [first = "serve", ...rest] = args;
  if (first === "--version") {
    console.log(`warmpath ${version}`);
  } else if (first === "serve" || first.startsWith("-")) {
    // Read here only: a command needs nothing of the service.
    const { serve } = await import("./serve.ts");
    await serve(first === "serve" ? rest : args);
  } else {
    const { processTerminal, runCommand } = await import("#cli");
    process.exit(await runCommand(first, rest, process.env, processTerminal(process.env)));
  }
}

if (import.meta.main) await main(process.argv.slice(2));
