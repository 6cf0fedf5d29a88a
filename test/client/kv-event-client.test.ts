import { afterEach, describe, expect, test } from "bun:test";
import { type DeliveredBatch, KvEventClient, type KvEventClientError, type KvEventClientOptions } from "#client";
import { eventually } from "../support/eventually.ts";
import { EnginePublisher, type EnginePublisherOptions, numberFrame, stored } from "./engine-publisher.ts";

/** Far above what loopback needs; reached only when the test fails. */
const LIMIT_MS = 5000;

const open: { close(): void | Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

function publish(options: EnginePublisherOptions = {}): EnginePublisher {
  const publisher = new EnginePublisher(options);
  open.push(publisher);
  return publisher;
}

interface Heard {
  client: KvEventClient;
  batches: DeliveredBatch[];
  gaps: { from: number; to: number }[];
  restarts: { lastBatchSeq: number; foundBatchSeq: number }[];
  errors: KvEventClientError[];
}

async function listen(publisher: EnginePublisher, options: Partial<KvEventClientOptions> & object = {}): Promise<Heard> {
  const heard: Omit<Heard, "client"> = { batches: [], gaps: [], restarts: [], errors: [] };
  const client = new KvEventClient({
    endpoint: publisher.endpoint,
    replayEndpoint: publisher.replayEndpoint,
    engine: "vllm",
    onEvents: (batch) => void heard.batches.push(batch),
    onGap: (gap) => void heard.gaps.push(gap),
    onRestart: (restart) => void heard.restarts.push(restart),
    onError: (error) => void heard.errors.push(error),
    ...options,
  } as KvEventClientOptions);
  open.push(client);
  await client.start();
  await publisher.untilSubscribed();
  await until(() => client.stats().isConnected);
  return { client, ...heard };
}

function until(isTrue: () => boolean): Promise<void> {
  return eventually("what the test waits for", isTrue, LIMIT_MS);
}

const numbersOf = (batches: readonly DeliveredBatch[]) => batches.map(({ batchSeq }) => batchSeq);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("KvEventClient", () => {
  test.each([false, true])(
    "KvEventClient replays what was published before it came, then hears the rest (topic in replies: %p)",
    async (repliesNameTopic) => {
      const publisher = publish({ topic: "kv", repliesNameTopic });
      for (const hash of [1n, 2n, 3n]) publisher.publish([stored(hash)]);
      const { client, batches } = await listen(publisher, { topic: "kv", rank: 0 });
      await until(() => batches.length === 3);
      publisher.publish([{ type: "BlockRemoved", blockHashes: [1n], medium: "GPU" }, { type: "AllBlocksCleared" }]);
      await until(() => batches.length === 4);
      expect(numbersOf(batches)).toEqual([0, 1, 2, 3]);
      expect(batches.map(({ source }) => source)).toEqual(["replay", "replay", "replay", "live"]);
      expect(batches[0].events).toEqual([stored(1n)]);
      expect(batches[3]).toMatchObject({ rank: 0, events: [{ type: "BlockRemoved" }, { type: "AllBlocksCleared" }] });
      expect(client.stats()).toMatchObject({ batches: 4, events: 5, missedBatches: 0, replaysAnswered: 1, lastBatchSeq: 3 });
    },
  );

  test("KvEventClient fills a gap from the replay, in order and each batch once", async () => {
    const publisher = publish();
    const { client, batches, gaps } = await listen(publisher);
    await until(() => client.stats().replaysAnswered === 1);
    for (const hash of upTo(20)) publisher.publish([stored(BigInt(hash))], { isLost: hash % 3 === 1 });
    await until(() => batches.length === 20);
    expect(numbersOf(batches)).toEqual(upTo(20));
    expect(batches.map(({ events }) => events)).toEqual(upTo(20).map((hash) => [stored(BigInt(hash))]));
    expect(gaps).toEqual([]);
    expect(client.stats().missedBatches).toBe(0);
  });

  test("KvEventClient tells and counts what cannot be replayed", async () => {
    const publisher = publish({ bufferBatches: 2 });
    const { client, batches, gaps } = await listen(publisher);
    await until(() => client.stats().replaysAnswered === 1);
    for (const hash of upTo(6)) publisher.publish([stored(BigInt(hash))], { isLost: hash > 0 && hash < 5 });
    await until(() => batches.length === 3);
    expect(numbersOf(batches)).toEqual([0, 4, 5]);
    expect(gaps).toEqual([{ from: 1, to: 3 }]);
    expect(client.stats().missedBatches).toBe(3);
  });

  test("KvEventClient goes on behind a gap when there is no replay endpoint", async () => {
    const publisher = publish();
    const { batches, gaps } = await listen(publisher, { replayEndpoint: null });
    for (const hash of upTo(3)) publisher.publish([stored(BigInt(hash))], { isLost: hash === 1 });
    await until(() => batches.length === 2);
    expect(numbersOf(batches)).toEqual([0, 2]);
    expect(gaps).toEqual([{ from: 1, to: 1 }]);
  });

  test("KvEventClient drops repeats", async () => {
    const publisher = publish();
    const { client, batches, restarts } = await listen(publisher);
    const payload = publisher.publish([stored(1n)]);
    publisher.send(0, payload);
    publisher.publish([stored(2n)]);
    await until(() => batches.length === 2);
    await until(() => client.stats().droppedMessages.repeat > 0);
    expect(numbersOf(batches)).toEqual([0, 1]);
    expect(restarts).toEqual([]);
  });

  test("KvEventClient connects again to a restarted publisher, tells so and follows it from its first batch", async () => {
    const first = publish();
    const { client, batches, restarts } = await listen(first);
    for (const hash of [1n, 2n, 3n]) first.publish([stored(hash)]);
    await until(() => batches.length === 3);
    open.splice(open.indexOf(first), 1);
    first.close();
    await until(() => !client.stats().isConnected);
    const second = publish({ endpoint: first.endpoint, replayEndpoint: first.replayEndpoint });
    for (const hash of [11n, 12n, 13n, 14n]) second.publish([stored(hash)]); // before anybody listens
    await until(() => batches.length === 7);
    expect(numbersOf(batches)).toEqual([0, 1, 2, 0, 1, 2, 3]);
    expect(batches[3].events).toEqual([stored(11n)]);
    expect(restarts).toEqual([{ lastBatchSeq: 2, foundBatchSeq: 2 }]);
    expect(client.stats()).toMatchObject({ isConnected: true, reconnects: 1, restarts: 1 });
  });

  test("KvEventClient counts bad batches, frames and events, and goes on", async () => {
    const publisher = publish();
    const { client, batches, errors } = await listen(publisher);
    await until(() => client.stats().replaysAnswered === 1);
    publisher.send(0, Uint8Array.fromHex("c1"));
    publisher.send(1, Uint8Array.fromHex("92cb41d954fc402000009291a47768617491b0416c6c426c6f636b73436c6561726564")); // "what", AllBlocksCleared
    publisher.sendFrames([new Uint8Array(0), numberFrame(2)]);
    await until(() => batches.length === 1 && errors.length === 2);
    expect(batches[0].events).toEqual([{ type: "AllBlocksCleared" }]);
    expect(errors.map(({ type }) => type)).toEqual(["batch", "message"]);
    expect(errors[0].message).toStartWith(`Cannot read batch 0 of ${publisher.endpoint}`);
    expect(client.stats().skippedEvents["unknown-event"]).toBe(1);
    expect(client.stats().droppedMessages["malformed-frames"]).toBe(1);
  });

  test("KvEventClient hands over one batch at a time, and an error of the handler loses that batch only", async () => {
    const publisher = publish();
    let running = 0;
    let mostRunning = 0;
    const done: number[] = [];
    const { client, errors } = await listen(publisher, {
      async onEvents({ batchSeq }: DeliveredBatch) {
        running += 1;
        mostRunning = Math.max(mostRunning, running);
        await Bun.sleep(1);
        running -= 1;
        if (batchSeq === 1) throw new Error("no room");
        done.push(batchSeq);
      },
    });
    for (const hash of upTo(10)) publisher.publish([stored(BigInt(hash))]);
    await until(() => done.length === 9);
    expect(mostRunning).toBe(1);
    expect(done).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("onEvents threw Error: no room")]);
    expect(client.metrics()).toContain('events_processed_total{pod_key="');
  });

  test("KvEventClient loses nothing of a large burst while its handler is slow to begin", async () => {
    const publisher = publish({ bufferBatches: 20_000 });
    const release = Promise.withResolvers<void>();
    const numbers: number[] = [];
    const { client, gaps } = await listen(publisher, {
      async onEvents({ batchSeq }: DeliveredBatch) {
        await release.promise;
        numbers.push(batchSeq);
      },
    });
    await until(() => client.stats().replaysAnswered === 1);
    for (const hash of upTo(12_000)) publisher.publish([stored(BigInt(hash))]);
    release.resolve();
    await until(() => numbers.length === 12_000);
    expect(numbers).toEqual(upTo(12_000));
    expect(gaps).toEqual([]);
  });

  test("KvEventClient calls no handler after close, closes from within a handler, and starts once", async () => {
    const publisher = publish();
    const batches: number[] = [];
    const closed = Promise.withResolvers<void>();
    const { client } = await listen(publisher, {
      async onEvents({ batchSeq }: DeliveredBatch) {
        batches.push(batchSeq);
        await client.close();
        closed.resolve();
      },
    });
    for (const hash of upTo(5)) publisher.publish([stored(BigInt(hash))]);
    await closed.promise;
    expect(batches).toEqual([0]);
    expect(client.stats().isConnected).toBe(false);
    await client.close();
    await expect(client.start()).rejects.toThrow("the client was started or closed");
  });

  test("KvEventClient goes on when its replay endpoint is silent, and says so", async () => {
    const publisher = publish();
    const environment = { AIBRIX_ZMQ_RECONNECT_INTERVAL: "1ms", AIBRIX_ZMQ_REPLAY_TIMEOUT: "20ms" };
    Object.assign(process.env, environment);
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    open.push({ close: () => silent.stop(true) });
    const { client, batches, errors, gaps } = await listen(publisher, { replayEndpoint: `tcp://127.0.0.1:${silent.port}` });
    for (const name of Object.keys(environment)) delete process.env[name];
    for (const hash of upTo(3)) publisher.publish([stored(BigInt(hash))], { isLost: hash === 1 });
    await until(() => batches.length === 2);
    expect(numbersOf(batches)).toEqual([0, 2]);
    expect(gaps).toEqual([{ from: 1, to: 1 }]);
    expect(errors.map(({ type }) => type)).toEqual(["replay", "replay", "replay", "replay"]); // three on joining, one for the gap
    expect(client.stats()).toMatchObject({ replaysAsked: 4, replaysAnswered: 0, replaysFailed: 4, missedBatches: 1 });
  });

  test("KvEventClient tells of a message above its limit, connects again and follows what comes then", async () => {
    const publisher = publish({ bufferBatches: 1 });
    process.env.AIBRIX_ZMQ_RECONNECT_INTERVAL = "1ms";
    const { client, batches, errors, gaps } = await listen(publisher, { maxMessageBytes: 1000 });
    delete process.env.AIBRIX_ZMQ_RECONNECT_INTERVAL;
    publisher.publish([stored(1n)]);
    await until(() => batches.length === 1);
    publisher.send(1, new Uint8Array(1001));
    await until(() => errors.length > 0);
    publisher.send(2, publisher.publish([stored(2n)], { isLost: true })); // its own number 1 is nowhere to be had any more
    await until(() => batches.length === 2);
    expect(numbersOf(batches)).toEqual([0, 2]);
    expect(gaps).toEqual([{ from: 1, to: 1 }]);
    expect(errors[0]).toMatchObject({ type: "connection", message: expect.stringContaining("above 1000 bytes") });
    expect(client.stats()).toMatchObject({ isConnected: true, missedBatches: 1 });
  });

  test("KvEventClient rejects the start for an endpoint that makes no sense", async () => {
    const client = new KvEventClient({ endpoint: "tcp://no such host:1", engine: "vllm", onEvents() {} });
    await expect(client.start()).rejects.toThrow("Cannot listen to tcp://no such host:1: ");
  });
});
