/** Warmpath as a process of its own, as an operator runs it: its log lines, its port, its exit code. */

import { tmpdir } from "node:os";
import { join } from "node:path";

export interface WarmpathProcess {
  pid: number;
  /** The HTTP port; rejects when the process ends before it listens. */
  port: Promise<number>;
  /** All of standard output and standard error, once the process has ended. */
  output: Promise<{ stdout: string; stderr: string }>;
  exitCode: Promise<number>;
  /** Resolves once standard error has this text. */
  logged(text: string): Promise<void>;
  signal(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): void;
}

const START = new URL("../../scripts/start.ts", import.meta.url).pathname;

/** Starts Warmpath with these flags; port 0 unless they name one. `entry` is a program that takes them. */
export function startWarmpath(flags: string[], environment: Record<string, string> = {}, entry = START): WarmpathProcess {
  const hasPort = flags.some((flag) => flag.startsWith("--http-server-port"));
  const process = Bun.spawn([Bun.argv[0], entry, ...flags, ...(hasPort ? [] : ["--http-server-port", "0"])], {
    env: { ...Bun.env, ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  const port = Promise.withResolvers<number>();
  port.promise.catch(() => {}); // not every test asks for the port
  const awaited: { text: string; resolve: () => void }[] = [];
  let text = "";
  const stderr = (async () => {
    for await (const chunk of process.stderr.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (const { text: part, resolve } of awaited) if (text.includes(part)) resolve();
      const listening = /Listening.*port"?[=:](\d+)/.exec(text);
      if (listening) port.resolve(Number(listening[1]));
    }
    port.reject(new Error(`Warmpath ended before it listened: ${text}`));
    return text;
  })();
  const stdout = process.stdout.text();
  return {
    pid: process.pid,
    port: port.promise,
    output: Promise.all([stdout, stderr]).then(([out, err]) => ({ stdout: out, stderr: err })),
    exitCode: process.exited,
    logged: (part) =>
      new Promise((resolve) => {
        awaited.push({ text: part, resolve });
        if (text.includes(part)) resolve();
      }),
    signal: (signal) => process.kill(signal),
  };
}

/** A KV events file with this content; the caller's test directory is the system's temporary one. */
export async function writeKvEventsFile(content: object | string): Promise<string> {
  const path = join(tmpdir(), `warmpath-test-${crypto.randomUUID()}.json`);
  await Bun.write(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** Waits until queries can be answered, whether or not an instance can serve; fails after ten seconds with the reasons. */
export async function untilReady(port: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    if (answer.ok) return;
    const { type, detail } = (await answer.json()) as { type: string; detail: string };
    if (type === "/problems/no-instance") return;
    if (Date.now() > deadline) throw new Error(`Not ready within ten seconds: ${detail}`);
    await Bun.sleep(5);
  }
}

/** Asks until the answer satisfies `condition`; fails after ten seconds with the last answer. */
export async function queryUntil(port: number, tokens: number[], condition: (match: QueryMatch) => boolean): Promise<QueryMatch> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const answer = await query(port, tokens);
    if (answer.status === 200) {
      const { matches } = (await answer.json()) as { matches: QueryMatch[] };
      if (matches.length > 0 && condition(matches[0])) return matches[0];
      if (Date.now() > deadline) throw new Error(`Not within ten seconds: ${JSON.stringify(matches)}`);
    }
    await Bun.sleep(10);
  }
}

function query(port: number, tokens: number[]): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/internal/kv-cache/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token_ids: tokens }),
  });
}

export interface QueryMatch {
  synchronized: boolean;
  sequence: number;
  device_hit_tokens: number;
  device_blocks: number;
  error: string | null;
}
