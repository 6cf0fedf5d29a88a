import { describe, expect, test } from "bun:test";
import { type DashboardMessage, type InstancesAnswer, listen } from "#http";
import type { Decision } from "#routing";
import { LiveFeed, type LiveFeedLimits } from "../../../src/http/dashboard/live-feed.ts";
import { Problem } from "../../../src/http/problem.ts";
import { eventually } from "../../support/eventually.ts";
import { createFakeApp, streamMatch } from "../fake-directory.ts";
import { placed, refused } from "./decisions.ts";

const INTERVAL_MS = 5;

function createFeed(limits: LiveFeedLimits = {}) {
  const fake = createFakeApp();
  const feed = new LiveFeed(fake.dependencies, { intervalMs: INTERVAL_MS, ...limits });
  const note = (requestId: string, decision: Decision = placed([{ name: "a:1", device: 40 }])) =>
    fake.dependencies.decisionLog.note(decision, { requestId, tokenCount: 100, namespace: null });
  return { ...fake, feed, note };
}

/** Reads one message after another; `close` lets the feed go. */
function readerOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  return {
    async next(): Promise<DashboardMessage> {
      const { value } = await reader.read();
      const event = new TextDecoder().decode(value);
      expect(event).toMatch(/^data: \{.*\}\n\n$/);
      return JSON.parse(event.slice("data: ".length)) as DashboardMessage;
    },
    close: () => reader.cancel(),
  };
}

describe("LiveFeed", () => {
  test("begins with everything that is kept, and goes on with what is new", async () => {
    const { feed, note } = createFeed();
    note("before");
    const reader = readerOf(feed.subscribe());
    const first = await reader.next();
    expect(first.decisions.map((decision) => decision.request_id)).toEqual(["before"]);
    expect(first.samples).toMatchObject([{ decisions: 1, prompt_tokens: 100, device_hit_tokens: 40 }]);
    note("after");
    let message = await reader.next();
    while (message.decisions.length === 0) message = await reader.next();
    expect(message.decisions.map((decision) => decision.request_id)).toEqual(["after"]);
    expect(message.samples).toMatchObject([{ decisions: 2 }]);
    expect((await reader.next()).decisions).toEqual([]);
    await reader.close();
  });

  test("tells the fleet as GET /v1/instances does, and why nobody can serve", async () => {
    const { feed, directory, send } = createFeed();
    directory.answer = [streamMatch("10.0.0.5:8000", 0)];
    const reader = readerOf(feed.subscribe());
    const { fleet, unready, policy, max_blocks_per_stream: blocksMax } = await reader.next();
    const listed = (await (await send("GET", "/v1/instances")).json()) as InstancesAnswer;
    expect(listed.static_streams).toHaveLength(1);
    expect(fleet).toEqual(listed);
    expect(unready).toEqual(["no prefill candidate: no instance is registered"]);
    expect({ policy, blocksMax }).toEqual({ policy: "CAR", blocksMax: 1024 });
    await reader.close();
  });

  test("leaves the fleet out while the index is busy", async () => {
    const { feed, directory } = createFeed();
    directory.answer = "busy";
    const reader = readerOf(feed.subscribe());
    expect((await reader.next()).fleet).toBeNull();
    await reader.close();
  });

  test("lists the chosen first, then the others by score, and those that may not serve last", async () => {
    const { feed, note } = createFeed();
    note(
      "ordered",
      placed([
        { name: "chosen:1", score: 0.1 },
        { name: "suspect:1", score: 0, isExcluded: true },
        { name: "far:1", score: 0.9 },
        { name: "near:1", score: 0.2 },
      ]),
    );
    note("refused", refused([{ name: "suspect:1", isExcluded: true }]));
    const reader = readerOf(feed.subscribe());
    const [ordered, nowhere] = (await reader.next()).decisions;
    expect(ordered?.candidates.map((candidate) => candidate.instance_name)).toEqual(["chosen:1", "near:1", "far:1", "suspect:1"]);
    expect(ordered).toMatchObject({ number: 1, prompt_tokens: 100, prefill: "chosen:1", decode: null, refused: null });
    expect(nowhere).toMatchObject({ number: 2, prefill: null, refused: "no prefill candidate: 1 SUSPECT" });
    await reader.close();
  });

  test("counts the candidates beyond the sixteen that it lists", async () => {
    const { feed, note } = createFeed();
    note("large", placed(Array.from({ length: 40 }, (_, index) => ({ name: `a:${index}`, score: index }))));
    const reader = readerOf(feed.subscribe());
    const [large] = (await reader.next()).decisions;
    expect(large?.candidates).toHaveLength(16);
    expect(large?.candidates_left_out).toBe(24);
    await reader.close();
  });

  test("sends the last twenty of many new decisions", async () => {
    const { feed, note } = createFeed();
    const reader = readerOf(feed.subscribe());
    await reader.next();
    for (let number = 1; number <= 50; number++) note(`request ${number}`);
    let message = await reader.next();
    while (message.decisions.length === 0) message = await reader.next();
    expect(message.decisions.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => index + 31));
    await reader.close();
  });

  test("refuses more readers than it is meant for, and has room again when one goes", async () => {
    const { feed } = createFeed({ subscribersMax: 2 });
    const readers = [readerOf(feed.subscribe()), readerOf(feed.subscribe())];
    expect(() => feed.subscribe()).toThrow(Problem);
    await readers[0]?.close();
    const third = readerOf(feed.subscribe());
    await third.next();
    await Promise.all([readers[1]?.close(), third.close()]);
    expect(feed.subscriberCount).toBe(0);
  });

  test("lets a reader go who does not read, and serves the others on", async () => {
    const { feed, note } = createFeed({ waitingBytesMax: 20_000 });
    const stalled = feed.subscribe();
    const reader = readerOf(feed.subscribe());
    expect(feed.subscriberCount).toBe(2);
    let beats = 0;
    await eventually("the stalled reader is let go", async () => {
      note(`beat ${beats}`);
      beats += 1;
      await reader.next();
      return feed.subscriberCount === 1;
    });
    await reader.next();
    await reader.close();
    const rest = stalled.getReader();
    await expect(rest.read()).rejects.toThrow("the reader is too slow");
  });

  test("does nothing while nobody reads", async () => {
    const { feed, directory } = createFeed();
    const reader = readerOf(feed.subscribe());
    await reader.next();
    await reader.next();
    await reader.close();
    const asked = directory.asked.length;
    await Bun.sleep(5 * INTERVAL_MS);
    expect(directory.asked.length).toBe(asked);
  });
});

describe("GET /v1/internal/dashboard/live", () => {
  const path = "/v1/internal/dashboard/live";

  test("answers with a stream of events", async () => {
    const { send } = createFakeApp();
    const response = await send("GET", path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const reader = readerOf(response.body as ReadableStream<Uint8Array>);
    expect((await reader.next()).decisions).toEqual([]);
    await reader.close();
  });

  test("needs the token where one is set", async () => {
    const { send } = createFakeApp({ internalApiToken: "secret" });
    expect((await send("GET", path)).status).toBe(401);
    expect((await send("GET", path, undefined, { "x-internal-token": "other" })).status).toBe(401);
    const response = await send("GET", path, undefined, { "x-internal-token": "secret" });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  test("shows a decision of POST /v1/route, but nothing of its tokens", async () => {
    const { send } = createFakeApp();
    await send("POST", "/v1/route", { token_ids: [123_456_789, 987_654_321], request_id: "seen" });
    const response = await send("GET", path);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const text = new TextDecoder().decode((await reader.read()).value);
    expect(text).toContain('"request_id":"seen"');
    expect(text).toContain('"prompt_tokens":2');
    expect(text).not.toMatch(/123456789|987654321/);
    await reader.cancel();
  });

  test("does not keep a service from stopping", async () => {
    const { app, directory } = createFakeApp();
    const listener = listen(app, { host: "127.0.0.1", port: 0, drainTimeoutMs: 20 });
    const response = await fetch(`http://127.0.0.1:${listener.port}${path}`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await listener.stop();
    await expect(reader.read()).rejects.toThrow();
    const asked = directory.asked.length;
    await Bun.sleep(1100);
    expect(directory.asked.length).toBe(asked);
  });
});
