import { beforeEach, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import { createIndex, KvIndexWriter } from "#index";
import { StreamIndex } from "#stream";
import { XllmDialect } from "#wire";
import { blocks, cleared, payload, STREAM } from "./scene.ts";

let index: StreamIndex;

beforeEach(async () => {
  const handle = await createIndex({ maxStreams: 1, maxBlocksPerStream: 100 });
  index = new StreamIndex(0, STREAM, new KvIndexWriter(handle), new XllmDialect());
  index.open();
});

test("StreamIndex counts batches and snapshots, and their events by type", () => {
  index.adoptSnapshot(7, payload(blocks(0, 2)), [{ batchSeq: 8, payload: payload(blocks(2, 1)) }]);
  index.apply(9, payload(cleared, blocks(0, 1)));
  expect(index.batches).toBe(3);
  expect(index.events).toEqual({ stored: 3, removed: 0, cleared: 1 });
});

test("StreamIndex tells how long ago the last live batch was made, by its engine", () => {
  index.adoptSnapshot(7, encode([Date.now() / 1000 - 500, [], 0]), []);
  expect(index.lagMs).toBeNull(); // a snapshot is no live batch
  index.apply(8, encode([Date.now() / 1000 - 100, [], 0]));
  expect(index.lagMs).toBeWithin(100_000, 110_000);
  index.apply(9, encode([Date.now() / 1000 + 100, [], 0])); // the engine's clock is ahead
  expect(index.lagMs).toBeWithin(-101_000, -90_000);
});

test.each([
  ["of a clock that counts from the start of the machine", 12_345.5],
  ["in milliseconds", 1_700_000_000_000],
  ["that is none", null],
  ["that is no number", Number.NaN],
])("StreamIndex tells no lag by a timestamp %s", (_what, timestamp) => {
  index.adoptSnapshot(7, payload(), []);
  index.apply(8, encode([timestamp, [], 0]));
  expect(index.lagMs).toBeNull();
});
