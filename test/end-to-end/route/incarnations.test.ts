import { afterEach, expect, test } from "bun:test";
import { BLOCK_SIZE, CachingRank, promptTokens, TOPIC } from "./played-rank.ts";
import { RouteSite } from "./route-site.ts";

let site: RouteSite | null = null;

afterEach(async () => {
  await site?.stop();
  site = null;
});

/** Ratio and reason of the one candidate. */
async function credit(of: RouteSite): Promise<[number, string | null] | null> {
  const [candidate] = (await of.route()).candidates ?? [];
  return [candidate.kv_hit_ratio, candidate.uncredited];
}

test("A stream that a list names gives credit to the instance of its name, but not to a process that it was not opened for", async () => {
  const rank = new CachingRank({ device: 5 }, 0, BLOCK_SIZE);
  const serving = setInterval(() => rank.serve(), 2);
  const { endpoint, replayEndpoint } = rank;
  const stream = { instance_name: "a:1", block_size: BLOCK_SIZE, topic: TOPIC, endpoint, replay_endpoint: replayEndpoint };
  site = await RouteSite.start([], { streams: [stream] });
  await site.hears("a:1", [rank]);

  await site.register("a:1", { incarnation: "second" }, []);
  await site.report("a:1", { incarnation: "second" });
  expect(await credit(site)).toEqual([0, "rank 0: its stream was opened for another process"]);

  await site.register("a:1", {}, []);
  await site.report("a:1", {});
  expect(await credit(site)).toEqual([0.5, null]);
  clearInterval(serving);
  rank.close();
});

test("A process that takes the place of another has no credit before its own snapshot", async () => {
  site = await RouteSite.of({ "a:1": { incarnation: "first", ranks: [{ device: 10 }] } });
  expect(await credit(site)).toEqual([1, null]);

  const [rank] = await site.join("a:1", { incarnation: "second", ranks: ["silent"] });
  expect(await credit(site)).toEqual([0, "rank 0: its stream is not synchronized"]);

  if (!(rank instanceof CachingRank)) throw new Error("Cannot go on: a rank with a cache is needed");
  rank.simulated.step([Uint32Array.from(promptTokens().slice(0, BLOCK_SIZE))]);
  site.unsilence(rank);
  await site.hears("a:1", [rank]);
  expect(await credit(site)).toEqual([0.1, null]);
});
