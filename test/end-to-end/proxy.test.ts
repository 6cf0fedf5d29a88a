import { expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { startWarmpath } from "./warmpath-process.ts";

const METRICS = 'vllm:num_requests_waiting{engine="0"} 3\nvllm:kv_cache_usage_perc{engine="0"} 0.25\n';

test("Warmpath asks engines itself where the environment names a proxy", async () => {
  const engine = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(METRICS) });
  const nobody = "http://127.0.0.1:9";
  const warmpath = startWarmpath([], { HTTP_PROXY: nobody, http_proxy: nobody });
  // The test's own requests go where its own environment says.
  const instances = `http://127.0.0.1:${await warmpath.port}/v1/instances`;
  const name = `127.0.0.1:${engine.port}`;
  const registered = await fetch(instances, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name, engine: "vllm" }),
  });
  expect(registered.status).toBe(201);
  let load: object | null = null;
  await eventually("the engine's metrics are read", async () => {
    const { instances: all } = (await (await fetch(instances)).json()) as { instances: { load: object | null }[] };
    load = all[0].load;
    return load !== null;
  });
  expect(load).toMatchObject({ origin: "scrape", waiting_requests_num: 3, gpu_cache_usage_perc: 0.25 });
  warmpath.signal("SIGTERM");
  expect(await warmpath.exitCode).toBe(0);
  await engine.stop(true);
});
