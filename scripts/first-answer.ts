/** How soon an executable answers its first query, started where nothing else is and with an empty environment. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "../test/support/free-ports.ts";

/** Far above what a start takes. */
const TIMEOUT_MS = 10_000;

/** Starts it once, asks until it answers, stops it, and returns the ms from start to answer; throws when it never answers. */
export async function measureFirstAnswer(executable: string): Promise<number> {
  const [port] = freePorts(1);
  const folder = await mkdtemp(join(tmpdir(), "warmpath-start-"));
  const startedAtMs = performance.now();
  const warmpath = Bun.spawn([executable, "--http-server-port", String(port)], {
    cwd: folder,
    env: {},
    stdio: ["ignore", "ignore", "ignore"],
  });
  try {
    while (performance.now() - startedAtMs < TIMEOUT_MS && warmpath.exitCode === null) {
      if (await isAnswered(`http://127.0.0.1:${port}/v1/internal/kv-cache/query`)) return performance.now() - startedAtMs;
      await Bun.sleep(1);
    }
    const found = warmpath.exitCode === null ? `no answer within ${TIMEOUT_MS} ms` : `it ended with code ${warmpath.exitCode}`;
    throw new Error(`Cannot measure the start of ${executable}: ${found}`);
  } finally {
    warmpath.kill("SIGTERM");
    await warmpath.exited;
    await rm(folder, { recursive: true });
  }
}

async function isAnswered(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token_ids: [1] }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return status === 200;
  } catch {
    return false; // it does not listen yet
  }
}
