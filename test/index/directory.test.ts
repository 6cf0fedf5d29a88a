import { describe, expect, test } from "bun:test";
import { extraKeyBytes, loraNameRoot, type Namespace, type StreamDescription, type StreamMatch, unsynchronized } from "#domain";
import { KvDirectory } from "#index";
import { range, store } from "./announcements.ts";
import { IndexScene } from "./scene.ts";

const TOKENS = range(1, 64);

function describeStream(instanceName: string, fields: Partial<StreamDescription> = {}): StreamDescription {
  const sockets = {
    endpoint: "tcp://10.0.0.5:18000",
    replayEndpoint: "tcp://10.0.0.5:38000",
    topic: "",
    incarnation: "",
    curveServerKey: null,
  };
  return { instanceName, dpRank: 0, engine: "xllm", blockSize: 16, hashSeed: 1024, ...sockets, ...fields };
}

/** A directory over streams that each hold the whole prompt. */
async function createDirectory(
  descriptions: readonly StreamDescription[],
): Promise<{ scene: IndexScene; directory: KvDirectory }> {
  const scene = await IndexScene.create();
  const directory = new KvDirectory(scene.handle);
  for (const [id, description] of descriptions.entries()) {
    const stream = scene.openSynchronized(id, { blockSize: description.blockSize, hashSeed: description.hashSeed });
    scene.changes(stream, id + 1, [store(range(1, TOKENS.length / description.blockSize), TOKENS)]);
    directory.addStream(id, description);
  }
  directory.tokens.set(TOKENS);
  return { scene, directory };
}

function matchesOf(
  directory: KvDirectory,
  tokenCount: number,
  names: readonly string[] | null = null,
  namespace: Namespace | null = null,
): StreamMatch[] {
  const matches = directory.match(tokenCount, names === null ? null : new Set(names), namespace);
  if (matches === "busy") throw new Error("The index is busy");
  return matches.sort((a, b) => a.batchSeq - b.batchSeq);
}

describe("KvDirectory", () => {
  test("KvDirectory matches streams of every block size and seed side by side", async () => {
    const { directory } = await createDirectory([
      describeStream("a", { blockSize: 1 }),
      describeStream("b", { blockSize: 16 }),
      describeStream("c", { blockSize: 16, hashSeed: 7 }),
      describeStream("d", { blockSize: 64 }),
      describeStream("e", { blockSize: 16 }),
    ]);
    const found = matchesOf(directory, 63).map(({ stream, deviceHitBlocks }) => [stream.instanceName, deviceHitBlocks]);
    expect(found).toEqual([
      ["a", 63],
      ["b", 3],
      ["c", 3],
      ["d", 0],
      ["e", 3],
    ]);
  });

  test("KvDirectory gives the whole answer of a stream", async () => {
    const description = describeStream("a");
    const { directory } = await createDirectory([description]);
    expect(matchesOf(directory, 32)).toEqual([
      {
        stream: description,
        unsynchronized: null,
        coverage: "full",
        batchSeq: 1,
        deviceHitBlocks: 2,
        hostOnlyHitBlocks: 0,
        diskOnlyHitBlocks: 0,
        deviceBlocks: 4,
        hostBlocks: 0,
        diskBlocks: 0,
      },
    ]);
  });

  test("KvDirectory narrows the streams to the instances named, all their ranks", async () => {
    const { directory } = await createDirectory([
      describeStream("a"),
      describeStream("b"),
      describeStream("b", { dpRank: 1 }),
      describeStream("c"),
    ]);
    const found = matchesOf(directory, 64, ["b", "unknown"]).map(({ stream }) => [stream.instanceName, stream.dpRank]);
    expect(found).toEqual([
      ["b", 0],
      ["b", 1],
    ]);
    expect(matchesOf(directory, 64, [])).toEqual([]);
  });

  test("KvDirectory matches a prompt under its namespace, in blocks of every size", async () => {
    const { scene, directory } = await createDirectory([describeStream("a"), describeStream("b", { blockSize: 64 })]);
    const salted = { root: loraNameRoot("adapter-a"), extraKeys: [extraKeyBytes(["salt-1"])] };
    for (const [id, blockSize] of [16, 64].entries()) {
      const stream = { id, blockSize, hashSeed: 1024, counted: false, strict: true };
      scene.state(stream, id + 3, [store(range(1, 64 / blockSize), TOKENS, { namespace: salted })]);
    }
    expect(matchesOf(directory, 64, null, salted).map(({ deviceHitBlocks }) => deviceHitBlocks)).toEqual([4, 1]);
    expect(matchesOf(directory, 64).map(({ deviceHitBlocks }) => deviceHitBlocks)).toEqual([0, 0]);
    const bare = { ...salted, extraKeys: null };
    expect(matchesOf(directory, 64, null, bare).map(({ deviceHitBlocks }) => deviceHitBlocks)).toEqual([0, 0]);
  });

  test("KvDirectory says which streams are known in part", async () => {
    const { scene, directory } = await createDirectory([describeStream("a"), describeStream("b")]);
    scene.knownPart({ id: 1, blockSize: 16, hashSeed: 1024, counted: true, strict: false }, 3, []);
    expect(matchesOf(directory, 64).map(({ coverage }) => coverage)).toEqual(["full", "partial"]);
  });

  test("KvDirectory answers for streams without a prompt", async () => {
    const { directory } = await createDirectory([describeStream("a")]);
    expect(matchesOf(directory, 0)).toMatchObject([{ deviceHitBlocks: 0, deviceBlocks: 4 }]);
  });

  test("KvDirectory says of a stream that nothing has been written of that it is not connected", async () => {
    const { directory } = await createDirectory([]);
    directory.addStream(9, describeStream("a"));
    expect(matchesOf(directory, 64)).toMatchObject([
      { unsynchronized: unsynchronized("not-connected"), batchSeq: 0, deviceBlocks: 0 },
    ]);
  });

  test("KvDirectory forgets a stream that is removed, and takes another under its id", async () => {
    const { directory } = await createDirectory([describeStream("a")]);
    directory.removeStream(0);
    expect(matchesOf(directory, 64)).toEqual([]);
    directory.addStream(0, describeStream("b"));
    expect(matchesOf(directory, 64)).toMatchObject([{ stream: { instanceName: "b" } }]);
  });

  test("KvDirectory refuses a second stream under one id, of whatever keyspace", async () => {
    const { directory } = await createDirectory([describeStream("a")]);
    directory.addStream(1, describeStream("b"), "awaited");
    for (const id of [0, 1]) {
      expect(() => directory.addStream(id, describeStream("c"))).toThrow(`stream id ${id} is free`);
      expect(() => directory.addStream(id, describeStream("c", { blockSize: 64 }), "awaited")).toThrow(`stream id ${id} is free`);
    }
  });

  const NOT_READ = {
    coverage: "full",
    batchSeq: 0,
    deviceHitBlocks: 0,
    hostOnlyHitBlocks: 0,
    diskOnlyHitBlocks: 0,
    deviceBlocks: 0,
    hostBlocks: 0,
    diskBlocks: 0,
  } as const;

  test("KvDirectory shows nothing of what an awaited stream's id still holds, until the stream is open", async () => {
    const { directory } = await createDirectory([describeStream("a")]);
    directory.removeStream(0);
    const stream = describeStream("b");
    directory.addStream(0, stream, "awaited");
    expect(matchesOf(directory, 64)).toEqual([{ stream, unsynchronized: unsynchronized("not-connected"), ...NOT_READ }]);
    expect(matchesOf(directory, 64, ["b"])).toHaveLength(1);
    expect(matchesOf(directory, 64, ["a"])).toEqual([]);
    directory.streamOpened(0);
    expect(matchesOf(directory, 64)).toMatchObject([{ stream, unsynchronized: null, deviceHitBlocks: 4 }]);
    directory.streamOpened(0);
    expect(matchesOf(directory, 64)).toHaveLength(1);
  });

  test("KvDirectory forgets an awaited stream that is removed, also when it is said to be open afterwards", async () => {
    const { directory } = await createDirectory([]);
    directory.addStream(0, describeStream("a"), "awaited");
    directory.removeStream(0);
    directory.streamOpened(0);
    expect(matchesOf(directory, 64)).toEqual([]);
  });

  test("KvDirectory says of every stream that ingest has stopped while no index is attached", async () => {
    const { scene, directory } = await createDirectory([describeStream("a")]);
    directory.addStream(1, describeStream("b"), "awaited");
    directory.detach();
    expect(matchesOf(directory, 64).map(({ stream, ...answer }) => answer)).toEqual(
      Array.from({ length: 2 }, () => ({ unsynchronized: unsynchronized("ingest-stopped"), ...NOT_READ })),
    );
    directory.attach(scene.handle);
    const reasons = matchesOf(directory, 64).map(({ unsynchronized }) => unsynchronized?.reason ?? null);
    expect(reasons).toEqual(["not-connected", null]);
  });

  test("KvDirectory keeps its streams when it turns to another index", async () => {
    const { directory } = await createDirectory([describeStream("a")]);
    const { scene } = await createDirectory([describeStream("a"), describeStream("a")]);
    directory.attach(scene.handle);
    directory.tokens.set(TOKENS);
    expect(matchesOf(directory, 64)).toMatchObject([{ deviceHitBlocks: 4, batchSeq: 1 }]);
    expect(directory.bytesInUse).toBe(scene.writer.bytesInUse);
  });
});
