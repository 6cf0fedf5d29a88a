import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { EnginePublisher, stored } from "./engine-publisher.ts";

const EXAMPLE = join(import.meta.dir, "../../scripts/example-client.ts");
const portOf = (endpoint: string) => endpoint.slice(endpoint.lastIndexOf(":") + 1);

describe("scripts/example-client.ts", () => {
  let publisher: EnginePublisher;

  beforeEach(() => {
    publisher = new EnginePublisher();
  });

  afterEach(() => publisher.close());

  test("The example prints one line a batch, replayed or live, and ends when it is told to", async () => {
    publisher.publish([stored(1n)]);
    const ports = [portOf(publisher.endpoint), portOf(publisher.replayEndpoint)];
    const example = Bun.spawn([process.execPath, EXAMPLE, "127.0.0.1", ...ports], { stdout: "pipe", stderr: "inherit" });
    let text = "";
    for await (const chunk of example.stdout) {
      text += new TextDecoder().decode(chunk);
      if (text === "batch 0: BlockStored\n") publisher.publish([stored(2n), { type: "AllBlocksCleared" }]);
      if (text.includes("batch 1")) example.kill();
    }
    expect(text).toBe("batch 0: BlockStored\nbatch 1: BlockStored, AllBlocksCleared\n");
    expect(await example.exited).toBe(0);
  });
});
