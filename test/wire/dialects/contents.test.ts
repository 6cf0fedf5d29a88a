import { describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import { CollectingSink } from "./collecting-sink.ts";
import { ALL_DIALECTS } from "./decode.ts";

const STORE = { type: "BlockStored", block_hashes: [1], parent_block_hash: null, token_ids: [7, 8], block_size: 2 };
const REMOVAL = { type: "BlockRemoved", block_hashes: [1] };
const CLEAR = { type: "AllBlocksCleared" };

describe.each(ALL_DIALECTS)("The $engine dialect", ({ dialect }) => {
  const contents = (payload: Uint8Array) => {
    dialect.decode(payload, new CollectingSink());
    return { ...dialect.contents };
  };

  test("tells when a batch was made and how many events of each type it delivered", () => {
    const found = contents(encode([1_700_000_000.25, [STORE, STORE, REMOVAL, CLEAR, { type: "Other" }, 7]]));
    expect(found).toEqual({ timestampSeconds: 1_700_000_000.25, stored: 2, removed: 1, cleared: 1 });
  });

  test("does not count what it leaves out, nor what the batch before held", () => {
    contents(encode([1.5, [STORE, CLEAR]]));
    expect(
      contents(
        encode([
          2.5,
          [
            { ...STORE, block_hashes: "no list" },
            { ...REMOVAL, block_hashes: null },
          ],
        ]),
      ),
    ).toEqual({
      timestampSeconds: 2.5,
      stored: 0,
      removed: 0,
      cleared: 0,
    });
  });

  test.each([
    ["a whole number", encode([1_700_000_000, []]), 1_700_000_000],
    ["a narrow float", Uint8Array.fromHex("92ca3fc0000090"), 1.5],
    ["nil", encode([null, []]), null],
    ["text", encode(["2023-11-14", "2023-11-14", []]), null],
    ["a float that is cut off", Uint8Array.fromHex("92cb3fc0"), null],
  ])("reads %s in the timestamp's place", (_what, payload, timestampSeconds) => {
    expect(contents(payload).timestampSeconds).toBe(timestampSeconds);
  });

  test("keeps the contents of the last batch when it looks for a full state", () => {
    contents(encode([1.5, [STORE]]));
    dialect.holdsFullState(encode([9.5, [CLEAR, STORE]]));
    expect(dialect.contents).toEqual({ timestampSeconds: 1.5, stored: 1, removed: 0, cleared: 0 });
  });
});
