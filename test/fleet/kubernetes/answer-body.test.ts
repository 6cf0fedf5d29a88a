import { describe, expect, test } from "bun:test";
import { readJson, readJsonLines } from "../../../src/fleet/kubernetes/answer-body.ts";

/** A body of these pieces that then ends, or breaks when it `breaks`. */
function bodyOf(pieces: readonly string[], { breaks = false } = {}): ReadableStream<Uint8Array> {
  const left = pieces.map((piece) => new TextEncoder().encode(piece));
  return new ReadableStream({
    pull(controller) {
      const piece = left.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else if (breaks) controller.error(new Error("broken"));
      else controller.close();
    },
  });
}

async function linesOf(body: ReadableStream<Uint8Array>, bytesMax = 100): Promise<unknown[]> {
  return await Array.fromAsync(readJsonLines(body, bytesMax, () => {}));
}

describe("readJsonLines", () => {
  test("puts lines together however they are cut, inside a character too", async () => {
    const bytes = new TextEncoder().encode('{"a":"é"}\n\n[1]\n2\n');
    for (let size = 1; size <= bytes.length; size++) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let start = 0; start < bytes.length; start += size) controller.enqueue(bytes.subarray(start, start + size));
          controller.close();
        },
      });
      expect(await linesOf(body)).toEqual([{ a: "é" }, [1], 2]);
    }
  });

  test("drops what has no line feed at the end", async () => {
    expect(await linesOf(bodyOf(["1\n2"]))).toEqual([1]);
  });

  test("ends when the body breaks", async () => {
    expect(await linesOf(bodyOf(["1\n2"], { breaks: true }))).toEqual([1]);
  });

  test("tells of every piece", async () => {
    let pieces = 0;
    await Array.fromAsync(readJsonLines(bodyOf(["1", "2", "\n"]), 100, () => pieces++));
    expect(pieces).toBe(3);
  });

  test("refuses a line that is too long before it has ended", async () => {
    await expect(linesOf(bodyOf(["[1,2,", "3,4,", "5"]), 8)).rejects.toThrow(
      "a line has more than 8 bytes, at most these are needed",
    );
  });

  test("has no limit for the lines together", async () => {
    expect(await linesOf(bodyOf(["[1,2]\n", "[3,4]\n[5", ",6]\n"]), 8)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
  });

  test("refuses a line that is no JSON, and shows how it begins", async () => {
    await expect(linesOf(bodyOf(["<html>\n"]))).rejects.toThrow('a line begins with "<html>", JSON is needed');
  });
});

describe("readJson", () => {
  test("reads a body of several pieces up to the limit", async () => {
    expect(await readJson(bodyOf(['{"a":', "1}"]), 7, "a list")).toEqual({ a: 1 });
  });

  test("refuses a body beyond the limit", async () => {
    await expect(readJson(bodyOf(['{"a":', "1}"]), 6, "a list")).rejects.toThrow("Cannot read a list: it has more than 6 bytes");
  });

  test("refuses a body that is no JSON or breaks", async () => {
    await expect(readJson(bodyOf(["{"]), 100, "a list")).rejects.toThrow("Cannot read a list");
    await expect(readJson(bodyOf(["1"], { breaks: true }), 100, "a list")).rejects.toThrow("Cannot read a list: broken");
  });
});
