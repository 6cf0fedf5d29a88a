import { describe, expect, test } from "bun:test";
import { decode } from "@msgpack/msgpack";
import { encodePrompt } from "../../../src/client/http/prompt-body.ts";

const TOKENS = Uint32Array.of(1, 0xfffffffe);
const TOKEN_BYTES = Uint8Array.of(1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff);

describe("encodePrompt", () => {
  test("encodePrompt sends the tokens as they lie in memory, and texts and truth values as parameters", () => {
    const prompt = encodePrompt(Uint32Array.of(7, ...TOKENS).subarray(1), { lora_name: "a&b", explain: false });
    expect(prompt).toEqual({
      contentType: "application/octet-stream",
      bytes: TOKEN_BYTES,
      query: { lora_name: "a&b", explain: "false" },
    });
  });

  test("encodePrompt leaves out what is undefined or null", () => {
    const { contentType, query } = encodePrompt(TOKENS, { lora_name: undefined, extra_keys: null });
    expect([contentType, query]).toEqual(["application/octet-stream", {}]);
  });

  test.each([
    ["a list of keys", { extra_keys: [null, [["3f9c", 4]]] }],
    ["a name with a comma", { instance_names: ["a,b"] }],
    ["an empty filter, which lets nobody pass", { instance_names: [] }],
    ["more text than a URL holds", { cache_salt: "s".repeat(1025) }],
  ])("encodePrompt puts %s into one MessagePack object with the tokens as bytes", (_what, fields) => {
    const { contentType, bytes, query } = encodePrompt(TOKENS, fields);
    expect([contentType, query]).toEqual(["application/msgpack", {}]);
    expect(decode(bytes)).toEqual({ token_ids: TOKEN_BYTES, ...fields });
  });
});
