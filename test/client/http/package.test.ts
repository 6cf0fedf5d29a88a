import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createClient } from "warmpath/client";
import { SimulatedEngine } from "#sim";
import { startWarmpath } from "../../end-to-end/warmpath-process.ts";
import { eventually } from "../../support/eventually.ts";
import { EnginePublisher, stored } from "../engine-publisher.ts";
import { DependentProject } from "./dependent-project.ts";

const ROOT = join(import.meta.dir, "../../..");
const PROMPT = Uint32Array.from({ length: 64 }, (_, index) => index * 7);
/** Packing, installing and compiling start programs that a busy machine takes its time for. */
const TIMEOUT_MS = 60_000;

describe("The package", () => {
  let project: DependentProject;

  beforeAll(async () => {
    project = await DependentProject.create();
  }, TIMEOUT_MS);

  afterAll(() => project.remove());

  test("The package has the sources, the kernel and the declarations, and nothing of this machine or of the tests", async () => {
    const installed = await Array.fromAsync(new Bun.Glob("**").scan({ cwd: project.package, dot: true }));
    // Bun's own mark of what it has installed.
    const files = installed.filter((file) => file !== ".bun-tag").toSorted();
    expect(files.filter((file) => !/^(?:src|dist\/types\/src)\//.test(file))).toEqual([
      "LICENSE",
      "README.md",
      "dist/types/package.json",
      "package.json",
    ]);
    expect(files.filter((file) => /\.test\.|assembly|\.sources$/.test(file))).toEqual([]);
    expect(files).toContain("src/index/kernel/kernel.wasm");
    for (const file of files) {
      const text = await Bun.file(join(project.package, file)).text();
      expect({ file, isOfThisMachine: text.includes(ROOT) }).toEqual({ file, isOfThisMachine: false });
    }
  });

  test(
    "The package's types hold in a stricter project than its own, and a wrong call does not compile there",
    async () => {
      await project.copy("test/client/http/api-types.test.ts");
      await project.copy("scripts/example-routing.ts");
      await project.copy("scripts/example-client.ts");
      expect(project.compile()).toBe("");
      await project.writeProgram(
        "wrong.ts",
        'import { createClient } from "warmpath/client";\n' +
          'const { api, query } = createClient("http://127.0.0.1:8888");\n' +
          "query([1, 2, 3]);\n" +
          'api.v1.instances.post({ name: "a:1", engine: "vlm" });\n' +
          'api.v1.route({ name: "r" }).finished.post({ phase: "decode" });\n' +
          'api.v1.instance({ name: "a:1" }).get();\n',
      );
      expect([...project.compile().matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) => Number(line))).toEqual([3, 4, 5, 6]);
    },
    TIMEOUT_MS,
  );

  test("The README shows the example as it is", async () => {
    const [, code] = (await Bun.file(join(ROOT, "scripts/example-routing.ts")).text()).split(" */\n\n");
    expect(await Bun.file(join(ROOT, "README.md")).text()).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });

  test("The package serves, and the example that depends on it is routed by it to the engine that holds its prompt", async () => {
    const engine = new SimulatedEngine({
      name: "engine:8000",
      cache: { blockSize: 16, deviceBlocksMax: 64, hostBlocksMax: 0, chainSeed: 1n, offloadForm: "with-tokens" },
    });
    engine.step([PROMPT]);
    const serving = setInterval(() => engine.serve(), 5);
    const token = "secret";
    const warmpath = startWarmpath(["--internal-api-token", token], {}, join(project.package, "src/main.ts"));
    const url = `http://127.0.0.1:${await warmpath.port}`;
    const { api, query } = createClient(url, { internalApiToken: token });
    const { endpoint, replayEndpoint, topic } = engine.stream;
    const endpoints = { event_endpoints: [endpoint], replay_endpoints: [replayEndpoint], topic };
    await api.v1.instances.post({ name: engine.name, engine: "xllm", block_size: 16, ...endpoints });
    const load = { waiting_requests_num: 0, gpu_cache_usage_perc: 0.5 };
    await api.v1.internal.heartbeat.post({ name: engine.name, load_metrics: load });
    await eventually(
      "the prompt is on the engine",
      async () => (await query(PROMPT)).data?.matches[0]?.device_hit_tokens === PROMPT.length,
    );

    const example = await project.copy("scripts/example-routing.ts");
    const ask = (environmentToken: string) =>
      Bun.spawnSync([process.execPath, example, url, ...[...PROMPT, 1, 2].map(String)], {
        cwd: project.folder,
        env: { ...process.env, WARMPATH_INTERNAL_API_TOKEN: environmentToken },
      });
    const [routed, refused] = [ask(token), ask("another")];
    expect(routed.stdout.toString()).toBe("engine:8000 holds 97 % of the prompt\n");
    expect(routed.exitCode).toBe(0);
    expect(refused.stderr.toString()).toStartWith("401: Cannot accept the request: X-Internal-Token is another token");
    expect(refused.exitCode).toBe(1);
    warmpath.signal("SIGTERM");
    expect(await warmpath.exitCode).toBe(0);
    clearInterval(serving);
    engine.close();
  });

  test("The package's library follows an engine from its own thread", async () => {
    const publisher = new EnginePublisher();
    publisher.publish([stored(1n)]);
    const [port, replayPort] = [publisher.endpoint, publisher.replayEndpoint].map((endpoint) => endpoint.split(":").at(-1) ?? "");
    const program = await project.copy("scripts/example-client.ts");
    const example = Bun.spawn([process.execPath, program, "127.0.0.1", port, replayPort], {
      cwd: project.folder,
      stdout: "pipe",
    });
    let text = "";
    for await (const chunk of example.stdout) {
      text += new TextDecoder().decode(chunk);
      example.kill();
    }
    expect(text).toBe("batch 0: BlockStored\n");
    expect(await example.exited).toBe(0);
    publisher.close();
  });
});
