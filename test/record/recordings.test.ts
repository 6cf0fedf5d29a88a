import { afterEach, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "#config";
import { Service } from "#service";
import { QUIET } from "../support/quiet-logger.ts";

const REPLAY = join(import.meta.dir, "../../scripts/replay.ts");
const RECORDINGS = join(import.meta.dir, "../fixtures/recordings");
/** The first tokens of the recorded engine's prompt. */
const PROMPT = Array.from({ length: 48 }, (_, n) => 100 + n);

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Plays the recording and starts a Warmpath that listens to it, with the configuration that the replay prints. */
async function startOn(recording: string): Promise<(request: object) => Promise<Record<string, unknown>>> {
  const replay = Bun.spawn(
    [process.execPath, REPLAY, join(RECORDINGS, recording), "--speed", "max", "--bind", "tcp://127.0.0.1:0"],
    { stdout: "pipe", stderr: "ignore" },
  );
  closing.push(() => replay.kill("SIGKILL"));
  const { value } = await replay.stdout.getReader().read();
  const path = join(tmpdir(), `warmpath-recording-${crypto.randomUUID()}.json`);
  await Bun.write(path, value ?? "");
  closing.push(() => Bun.file(path).delete());
  const config = await loadConfig(["--http-server-port", "0", "--kv-events-config-file", path], {});
  if (config === "help") throw new Error("The arguments ask for no help");
  const service = await Service.start(config, QUIET);
  closing.push(() => service.stop());
  return async (request) => {
    const answer = await fetch(`http://127.0.0.1:${service.port}/v1/internal/kv-cache/query`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    return answer.ok ? ((await answer.json()) as { matches: Record<string, unknown>[] }).matches[0] : {};
  };
}

test("A recorded vLLM stream with a lost batch ends in part of what its engine holds", async () => {
  const query = await startOn("vllm-lost-batch.jsonl");
  const deadline = Date.now() + 10_000;
  let match = await query({ token_ids: PROMPT });
  while (!(match.synchronized === true && match.sequence === 5) && Date.now() < deadline) {
    await Bun.sleep(10);
    match = await query({ token_ids: PROMPT });
  }
  // Batch 3 cannot be had: what came before it counts no more, and the block behind the lost one has an unknown parent.
  expect(match).toMatchObject({ synchronized: true, coverage: "partial", sequence: 5, device_blocks: 1, host_blocks: 0 });
  expect(match).toMatchObject({ reusable_prefix_tokens: 0, error: null });
  const namespaced = await query({ token_ids: PROMPT, lora_name: "adapter-a", cache_salt: "salt-1" });
  expect(namespaced).toMatchObject({ synchronized: true, device_hit_tokens: 16 });
  expect(await query({ token_ids: PROMPT, lora_name: "adapter-a" })).toMatchObject({ reusable_prefix_tokens: 0 });
}, 20_000);
