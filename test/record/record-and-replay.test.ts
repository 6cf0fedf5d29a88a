import { afterEach, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DeliveredBatch, KvEventClient } from "#client";
import { parseRecording } from "../../scripts/recording.ts";
import { EnginePublisher, numberFrame, stored } from "../client/engine-publisher.ts";

const SCRIPTS = join(import.meta.dir, "../../scripts");

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function run(script: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, join(SCRIPTS, script), ...args], { stdout: "pipe", stderr: "pipe" });
  closing.push(() => child.kill("SIGKILL"));
  return child;
}

/** Reads standard error until `text` has come. */
async function untilSaid(child: ReturnType<typeof run>, text: string): Promise<void> {
  let said = "";
  for await (const chunk of child.stderr) {
    said += new TextDecoder().decode(chunk);
    if (said.includes(text)) return;
  }
  throw new Error(`The script ended without ${JSON.stringify(text)}: ${said}`);
}

function recordingPath(): string {
  const path = join(tmpdir(), `warmpath-recording-${crypto.randomUUID()}.jsonl`);
  closing.push(() => rm(path, { force: true }));
  return path;
}

describe("bun run record and bun run replay", () => {
  test("A recording holds every message as it came, and its replay gives a client the same batches, late as it may come", async () => {
    const publisher = new EnginePublisher({ topic: "kv" });
    closing.push(() => publisher.close());
    const path = recordingPath();
    const recorder = run("record.ts", publisher.endpoint, "--topic", "kv", "--out", path);
    await publisher.untilSubscribed();
    const payloads = [1n, 2n, 3n].map((hash) => publisher.publish([stored(hash)]));
    publisher.sendFrames([new TextEncoder().encode("kv"), numberFrame(3)]); // not topic, batch sequence, payload
    while ((await Bun.file(path).text()).split("\n").length < 7) await Bun.sleep(5);
    recorder.kill("SIGINT");
    expect(await recorder.exited).toBe(0);

    const { head, entries, warnings } = parseRecording(await Bun.file(path).text());
    expect(head).toMatchObject({ endpoint: publisher.endpoint, topic: "kv" });
    expect(warnings).toEqual([]);
    expect(entries).toContainEqual(expect.objectContaining({ kind: "connection", event: "connected" }));
    const messages = entries.flatMap((entry) => (entry.kind === "message" ? [entry.frames.map((frame) => frame.toHex())] : []));
    const topic = new TextEncoder().encode("kv").toHex();
    expect(messages).toEqual([
      ...payloads.map((payload, batchSeq) => [topic, numberFrame(batchSeq).toHex(), payload.toHex()]),
      [topic, numberFrame(3).toHex()],
    ]);

    const replay = run(
      "replay.ts",
      path,
      "--speed",
      "max",
      "--bind",
      "tcp://127.0.0.1:0",
      "--engine",
      "vllm",
      "--block-size",
      "4",
    );
    await untilSaid(replay, "Played");
    const { value } = await replay.stdout.getReader().read();
    const [stream] = JSON.parse(new TextDecoder().decode(value)).streams;
    expect(stream).toMatchObject({ engine: "vllm", block_size: 4, topic: "kv" });
    const batches: DeliveredBatch[] = [];
    const heard = Promise.withResolvers<void>();
    const client = new KvEventClient({
      ...{ endpoint: stream.endpoint, replayEndpoint: stream.replay_endpoint, topic: stream.topic, engine: "vllm" },
      onEvents(batch) {
        batches.push(batch);
        if (batches.length === 3) heard.resolve();
      },
    });
    closing.push(() => client.close());
    await client.start();
    await heard.promise;
    expect(batches.map(({ batchSeq, events }) => [batchSeq, events])).toEqual(
      [1n, 2n, 3n].map((hash, batchSeq) => [batchSeq, [stored(hash)]]),
    );
    replay.kill("SIGINT");
    expect(await replay.exited).toBe(0);
  }, 15_000);

  test("record refuses to write over a file and to listen to what is no endpoint", async () => {
    const path = recordingPath();
    await Bun.write(path, "precious");
    expect(await run("record.ts", "tcp://127.0.0.1:1", "--out", path).exited).toBe(2);
    expect(await Bun.file(path).text()).toBe("precious");
    expect(await run("record.ts", "127.0.0.1:1").exited).toBe(2);
    expect(await run("record.ts").exited).toBe(2);
  });

  test("replay says which line of a file is wrong", async () => {
    const path = recordingPath();
    await Bun.write(path, "nonsense\n");
    const replay = run("replay.ts", path);
    expect(await new Response(replay.stderr).text()).toContain("Cannot read the recording: line 1: it is no JSON");
    expect(await replay.exited).toBe(2);
    expect(await run("replay.ts", path, "--speed", "0").exited).toBe(2);
  });
});
