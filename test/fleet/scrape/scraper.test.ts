import { describe, expect, test } from "bun:test";
import type { Fetch } from "../../../src/fleet/scrape/metrics-page.ts";
import { REQUESTS_MAX } from "../../../src/fleet/scrape/scraper.ts";
import { enginePage } from "./engine-page.ts";
import { LOAD, PAGE, ScrapeScene, until } from "./scene.ts";

const INTERVAL_MS = 1000;

/** Engines that answer when the test says so. */
class HeldEngines {
  /** URLs asked for, in order. */
  readonly asked: string[] = [];
  readonly #answers: ((response: Response) => void)[] = [];

  readonly fetch: Fetch = (url) => {
    this.asked.push(url);
    return new Promise((resolve) => this.#answers.push(resolve));
  };

  get heldCount(): number {
    return this.#answers.length;
  }

  /** Answers the request that waits longest. */
  answer(page = PAGE): void {
    this.#answers.shift()?.(new Response(page));
  }
}

function answering(pages: Record<string, string>): Fetch {
  return async (url) => {
    const page = pages[url];
    return page === undefined ? new Response("gone", { status: 503 }) : new Response(page);
  };
}

describe("MetricsScraper", () => {
  test("reports the load of each engine by its own metrics, from the address that it is registered with", async () => {
    const scene = new ScrapeScene(
      INTERVAL_MS,
      answering({
        "http://10.0.0.1:8000/metrics": await enginePage("vllm-0.10-dp2"),
        "http://10.0.0.9:30000/metrics": await enginePage("sglang-dp2-tp2"),
      }),
    );
    scene.put("10.0.0.1:8000");
    scene.put("s-1:30000", { backend: "sglang", address: "10.0.0.9:30000" });
    await scene.look();
    await scene.look(INTERVAL_MS / 2);
    expect(scene.reports).toEqual([
      { name: "10.0.0.1:8000", report: { waitingRequests: 9, cacheUsage: 0.75 } },
      { name: "s-1:30000", report: { waitingRequests: 15, cacheUsage: 0.5 } },
    ]);
    expect(scene.log).toEqual([]);
  });

  test("asks each instance once an interval", async () => {
    const scene = new ScrapeScene(INTERVAL_MS, async () => new Response(PAGE));
    scene.put("a:1");
    for (let step = 0; step < 32; step++) await scene.look(INTERVAL_MS / 16);
    expect(scene.reports).toHaveLength(2);
  });

  test("leaves out who is SUSPECT, unknown or tells its load itself, also when that changes within a round", async () => {
    const held = new HeldEngines();
    const scene = new ScrapeScene(INTERVAL_MS, held.fetch);
    scene.put("a:1", { backend: "xllm" });
    scene.put("b:1", { state: "SUSPECT" });
    for (const name of ["c:1", "d:1", "e:1"]) scene.put(name);
    scene.scraper.step();
    scene.put("d:1", { loads: [{ origin: "heartbeat", report: LOAD, receivedAtMs: 0 }] });
    scene.remove("e:1");
    scene.clock.advance(INTERVAL_MS);
    scene.scraper.step();
    expect(held.asked).toEqual(["http://c:1/metrics"]);
  });

  test("has one request under way for each instance, though the answer takes longer than the interval", async () => {
    const held = new HeldEngines();
    const scene = new ScrapeScene(INTERVAL_MS, held.fetch);
    scene.put("a:1");
    for (let step = 0; step < 4; step++) {
      scene.scraper.step();
      scene.clock.advance(INTERVAL_MS);
    }
    expect(held.asked).toHaveLength(1);
    held.answer();
    await scene.idle();
    scene.scraper.step();
    expect(held.asked).toHaveLength(2);
  });

  test("has no more requests under way than are allowed, and gives every instance its turn", async () => {
    const held = new HeldEngines();
    const scene = new ScrapeScene(INTERVAL_MS, held.fetch);
    for (let index = 0; index < 40; index++) scene.put(`i-${index}:1`);
    scene.scraper.step();
    scene.clock.advance(INTERVAL_MS);
    for (let step = 0; step < 3; step++) scene.scraper.step();
    expect(held.heldCount).toBe(REQUESTS_MAX);
    held.answer();
    await until(() => scene.scraper.requestCount === REQUESTS_MAX - 1);
    scene.scraper.step();
    expect(held.asked).toHaveLength(REQUESTS_MAX + 1);
    while (scene.reports.length < 40) {
      held.answer();
      await until(() => held.heldCount === scene.scraper.requestCount);
      scene.scraper.step();
    }
    expect(new Set(held.asked).size).toBe(40);
  });

  test.each([
    ["another process took its name", { incarnation: "second" }],
    ["it moved to another address", { address: "elsewhere:1" }],
  ])("drops an answer that arrives after %s", async (_, traits) => {
    for (const page of [PAGE, "nothing"]) {
      const held = new HeldEngines();
      const scene = new ScrapeScene(INTERVAL_MS, held.fetch);
      scene.put("a:1");
      scene.scraper.step();
      scene.put("a:1", traits);
      held.answer(page);
      await scene.idle();
      expect(scene.reports).toEqual([]);
      expect(scene.scraper.problemOf("a:1")).toBeNull();
      expect(scene.log).toEqual([]);
    }
  });

  test("drops an answer that arrives after the instance is gone", async () => {
    const held = new HeldEngines();
    const scene = new ScrapeScene(INTERVAL_MS, held.fetch);
    scene.put("a:1");
    scene.scraper.step();
    scene.remove("a:1");
    held.answer();
    await scene.idle();
    expect(scene.reports).toEqual([]);
  });

  test("keeps an engine's latest problem, and logs only the first until it works again", async () => {
    const pages: Record<string, string> = { "http://a:1/metrics": "vllm:num_requests_waiting many\n" };
    const scene = new ScrapeScene(INTERVAL_MS, answering(pages));
    scene.put("a:1");
    const malformed = 'this line of /metrics is no sample: "vllm:num_requests_waiting many"';
    await scene.look();
    expect(scene.scraper.problemOf("a:1")).toBe(malformed);
    pages["http://a:1/metrics"] = "";
    await scene.look(INTERVAL_MS);
    expect(scene.scraper.problemOf("a:1")).toBe("no vllm:num_requests_waiting in /metrics");
    expect(scene.reports).toEqual([]);
    pages["http://a:1/metrics"] = PAGE;
    await scene.look(INTERVAL_MS);
    expect(scene.scraper.problemOf("a:1")).toBeNull();
    expect(scene.reports).toEqual([{ name: "a:1", report: LOAD }]);
    delete pages["http://a:1/metrics"];
    await scene.look(INTERVAL_MS);
    const refused = "/metrics answered 503, 200 is needed";
    expect(scene.scraper.problemOf("a:1")).toBe(refused);
    expect(scene.log).toEqual([`WARN a:1 ${malformed}`, "INFO a:1", `WARN a:1 ${refused}`]);
  });

  test("does not show the problem of a process to its successor, and logs the successor's own", async () => {
    const scene = new ScrapeScene(INTERVAL_MS, answering({}));
    scene.put("a:1");
    await scene.look();
    scene.put("a:1", { incarnation: "second" });
    expect(scene.scraper.problemOf("a:1")).toBeNull();
    await scene.look(INTERVAL_MS);
    expect(scene.scraper.problemOf("a:1")).toBe("/metrics answered 503, 200 is needed");
    expect(scene.log).toHaveLength(2);
  });

  test("forgets the problem of an instance that is gone, or that tells its load itself by now", async () => {
    const scene = new ScrapeScene(INTERVAL_MS, answering({}));
    scene.put("a:1");
    scene.put("b:1");
    await scene.look();
    await scene.look(INTERVAL_MS / 2);
    expect(scene.log).toHaveLength(2);
    scene.remove("a:1");
    scene.put("b:1", { loads: [{ origin: "heartbeat", report: LOAD, receivedAtMs: INTERVAL_MS }] });
    await scene.look(INTERVAL_MS);
    scene.put("a:1");
    expect(scene.scraper.problemOf("a:1")).toBeNull();
    expect(scene.scraper.problemOf("b:1")).toBeNull();
  });

  test("reports nothing after stop, which waits for the requests under way", async () => {
    const held = new HeldEngines();
    const scene = new ScrapeScene(INTERVAL_MS, held.fetch);
    scene.put("a:1");
    scene.scraper.step();
    const stopped = scene.scraper.stop();
    held.answer();
    await stopped;
    expect(scene.scraper.requestCount).toBe(0);
    expect(scene.reports).toEqual([]);
    expect(() => scene.scraper.start()).toThrow("a scraper starts once");
  });

  test("ends the requests under way when it stops, at once", async () => {
    const scene = new ScrapeScene(INTERVAL_MS, (_, { signal }) => {
      return new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    });
    scene.put("a:1");
    scene.scraper.step();
    let isStopped = false;
    const stopped = scene.scraper.stop().then(() => {
      isStopped = true;
    });
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(true);
    await stopped;
    expect(scene.log).toEqual([]);
  });
});
