import { afterEach, expect, test } from "bun:test";
import { type Member, RouteSite } from "./route-site.ts";

let site: RouteSite | null = null;

afterEach(async () => {
  await site?.stop();
  site = null;
});

async function start(members: Record<string, Member>, ...flags: string[]): Promise<RouteSite> {
  site = await RouteSite.of(members, flags);
  return site;
}

/** `a:1 d:1`: where `count` requests go, one after another. */
async function routes(count: number): Promise<string[]> {
  const routes: string[] = [];
  for (let turn = 0; turn < count; turn++) {
    const { prefill, decode } = (await site?.route()) ?? { prefill: { instance_name: "nowhere" }, decode: null };
    routes.push([prefill.instance_name, ...(decode === null ? [] : [decode.instance_name])].join(" "));
  }
  return routes;
}

test("CAR gives candidates of equal cost their turns, on each side by itself", async () => {
  // b and c cost as much as a (0.5·0.5 + 0.5·1, three times); z costs more with its one block.
  const equal: Member = { role: "PREFILL", ranks: [{ device: 5 }], load: { waiting: 3 } };
  const decode: Member = { role: "DECODE", load: { waiting: 2, usage: 0.25 } };
  await start({
    "a:1": equal,
    "b:1": equal,
    "c:1": equal,
    "z:1": { ...equal, ranks: [{ device: 1 }] },
    "d:1": decode,
    "e:1": decode,
  });
  expect(await routes(6)).toEqual(["a:1 d:1", "b:1 e:1", "c:1 d:1", "a:1 e:1", "b:1 d:1", "c:1 e:1"]);
});

test("CAR goes on with the next in turn when the last one is gone, and takes a newcomer in where its name stands", async () => {
  const site = await start({ "a:1": {}, "b:1": {}, "d:1": {} });
  expect(await routes(2)).toEqual(["a:1", "b:1"]);
  await site.request("DELETE", "/v1/instances/b:1");
  await site.join("c:1");
  expect(await routes(4)).toEqual(["c:1", "d:1", "a:1", "c:1"]);
});

test("RR takes each instance of a side in turn, whatever it holds and whether or not it reports a load", async () => {
  const site = await start(
    {
      "d:1": { role: "DECODE", load: null },
      "e:1": { role: "DECODE" },
      "p:1": { role: "PREFILL", ranks: [{ device: 10 }] },
      "q:1": { role: "PREFILL", load: null },
      "r:1": { load: { waiting: 9 } },
    },
    "--load-balance-policy=RR",
  );
  expect(await routes(4)).toEqual(["p:1 d:1", "q:1 e:1", "r:1 d:1", "p:1 e:1"]);
  await site.request("DELETE", "/v1/instances/q:1");
  await site.request("DELETE", "/v1/instances/e:1");
  expect(await routes(3)).toEqual(["r:1 d:1", "p:1 d:1", "r:1 d:1"]);
  const { policy, candidates } = await site.route();
  expect(policy).toBe("RR");
  expect(candidates?.map(({ score, excluded }) => [score, excluded])).toEqual(Array(3).fill([null, null]));
});

test("RR passes over who is SUSPECT", async () => {
  const site = await start({ "a:1": {}, "b:1": { ranks: [], isSuspect: true }, "c:1": {} }, "--load-balance-policy=RR");
  expect(await routes(4)).toEqual(["a:1", "c:1", "a:1", "c:1"]);
  const { candidates } = await site.route();
  expect(candidates?.map(({ excluded }) => excluded)).toEqual([null, "the instance is SUSPECT", null]);
});
