/** Batches that other encoders (msgspec, in vLLM and SGLang) produced, as hex, and what they say. */

import type { CollectedEvent } from "./collecting-sink.ts";

interface Vector {
  name: string;
  payload: string;
  rank: number | null;
  events: CollectedEvent[];
}

export const VECTORS: Vector[] = [
  {
    name: "a removal of a negative hash",
    payload: "92cb41d954fc402000009192ac426c6f636b52656d6f76656491d3e95092c4b38d42d1",
    rank: null,
    events: [{ removed: [BigInt.asUintN(64, -1634645291211865391n)], tier: "device" }],
  },
  {
    name: "a clear, two elements",
    payload: "92cb41d954fc402000009191b0416c6c426c6f636b73436c6561726564",
    rank: null,
    events: ["cleared"],
  },
  {
    name: "array form, two blocks and a removal",
    payload:
      "93cb41d954fc402000009297ab426c6f636b53746f72656492cf2ceabcfae6d332eacf26470bbec927f5bfc098010203040506070804c0a347505593ac426c6f636b52656d6f76656491cf2ceabcfae6d332eaa347505500",
    rank: 0,
    events: [
      {
        stored: [3236607068019569386n, 2758186210834249151n],
        parent: null,
        tokens: [1, 2, 3, 4, 5, 6, 7, 8],
        blockSize: 4,
        tier: "device",
      },
      { removed: [3236607068019569386n], tier: "device" },
    ],
  },
  {
    name: "array form, 32-byte digests",
    payload:
      "93cb41d954fc402000009197ab426c6f636b53746f72656491c420202da172482d928bbc42ab25b0151e2b895f13f41002e27b2ceabcfae6d332eac0940102030404c0a347505500",
    rank: 0,
    events: [{ stored: [3236607068019569386n], parent: null, tokens: [1, 2, 3, 4], blockSize: 4, tier: "device" }],
  },
  {
    name: "array form, LoRA name",
    payload: "93cb41d954fc402000009198ab426c6f636b53746f72656491cf2ceabcfae6d332eac094010203040401a3475055a9616461707465722d6100",
    rank: 0,
    events: [{ skipped: "unknown-event" }],
  },
  {
    name: "array form, a full-attention and a sliding-window group",
    payload:
      "93cb41d954fc40200000929cab426c6f636b53746f72656491cf2ceabcfae6d332eac0940102030404c0a3475055c091c000ae66756c6c5f617474656e74696f6ec09cab426c6f636b53746f72656491cf26470bbec927f5bfc0940102030404c0a3475055c091c001ae736c6964696e675f77696e646f77cc8000",
    rank: 0,
    events: [
      { stored: [3236607068019569386n], parent: null, tokens: [1, 2, 3, 4], blockSize: 4, tier: "device" },
      { skipped: "sparse-group" },
    ],
  },
  {
    name: "map form, all three events",
    payload:
      "93cb41d954fc40200000938ba474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391cf2ceabcfae6d332eab1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f6964739401020304aa626c6f636b5f73697a6504a76c6f72615f6964c0a66d656469756da3475055a96c6f72615f6e616d65c0aa65787472615f6b65797391c0a967726f75705f69647800b26b765f63616368655f737065635f6b696e64ae66756c6c5f617474656e74696f6e84a474797065ac426c6f636b52656d6f766564ac626c6f636b5f68617368657391cf2ceabcfae6d332eaa66d656469756da3475055a967726f75705f6964780081a474797065b0416c6c426c6f636b73436c656172656400",
    rank: 0,
    events: [
      { stored: [3236607068019569386n], parent: null, tokens: [1, 2, 3, 4], blockSize: 4, tier: "device" },
      { removed: [3236607068019569386n], tier: "device" },
      "cleared",
    ],
  },
  {
    name: "map form, offload placeholder",
    payload:
      "93cb41d954fc402000009189a474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391cf2ceabcfae6d332eab1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f69647390aa626c6f636b5f73697a6500a76c6f72615f6964c0a66d656469756da3435055a96c6f72615f6e616d65c0a967726f75705f6964780000",
    rank: 0,
    events: [{ stored: [3236607068019569386n], parent: null, tokens: [], blockSize: 0, tier: "host" }],
  },
  {
    name: "map form, another owner and later fields",
    payload:
      "93cb41d954fc40200000918ca474797065ab426c6f636b53746f726564ac626c6f636b5f68617368657391cf2ceabcfae6d332eab1706172656e745f626c6f636b5f68617368c0a9746f6b656e5f6964739401020304aa626c6f636b5f73697a6504a76c6f72615f6964c0a66d656469756da753544f52414745a96c6f72615f6e616d65c0a967726f75705f69647800a86c6f63616c697479a54c4f43414ca96f776e657273686970a46b766372aa73657373696f6e5f6964a57265712d3101",
    rank: 1,
    events: [{ skipped: "not-owned" }],
  },
  {
    name: "a batch as a map",
    payload:
      "83a27473cb41d954fc40200000a66576656e74739181a474797065b0416c6c426c6f636b73436c6561726564b2646174615f706172616c6c656c5f72616e6b00",
    rank: 0,
    events: ["cleared"],
  },
  {
    name: "array form, cache salt as metadata, nil rank",
    payload:
      "93cb41d954fc402000009198ab426c6f636b53746f72656491d3e95092c4b38d42d1c0940102030404c0a347505581aa63616368655f73616c74a874656e616e742d61c0",
    rank: null,
    events: [{ skipped: "unknown-event" }],
  },
];
