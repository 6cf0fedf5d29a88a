import { type Block, inNamespace, LEFT, RIGHT } from "./blocks.ts";
import { CLEARED, removed, stored } from "./cache-event.ts";
import { describeInterop } from "./suite.ts";

const IMAGE = [[], ["image-1"], [["image-2", -3]]] as const;

const TENANT = inNamespace({ cacheSalt: "tenant-a" }, LEFT);
const OTHER_TENANT = inNamespace({ cacheSalt: "tenant-b" }, LEFT);
const ADAPTER = inNamespace({ loraName: "adapter-a" }, LEFT);
const OTHER_ADAPTER = inNamespace({ loraName: "adapter-b" }, LEFT);
const TENANT_OF_ADAPTER = inNamespace({ loraName: "adapter-a", cacheSalt: "tenant-a" }, LEFT);
const PICTURES = inNamespace({ extraKeys: IMAGE }, LEFT);
const OTHER_PICTURES = inNamespace({ extraKeys: [[], ["image-1"], [["image-2", 0]]] }, LEFT);

/** A salt is the last key of the first block, whichever way it is said. */
const TENANT_BY_KEYS = inNamespace({ extraKeys: [["tenant-a"]] }, LEFT);

/** No query can name an adapter that has a number only. */
const NUMBERED_ADAPTER = inNamespace({ loraId: 7 }, LEFT);

const PROMPTS = [
  LEFT,
  RIGHT,
  TENANT,
  TENANT_BY_KEYS,
  OTHER_TENANT,
  ADAPTER,
  OTHER_ADAPTER,
  TENANT_OF_ADAPTER,
  PICTURES,
  OTHER_PICTURES,
];

describeInterop(
  "Namespaces",
  (scenario) => {
    const namespaces: [string, "vllm" | "sglang", readonly Block[]][] = [
      ["no adapter, salt or picture", "vllm", LEFT],
      ["a cache salt", "vllm", TENANT],
      ["an adapter", "vllm", ADAPTER],
      ["an adapter and a cache salt", "vllm", TENANT_OF_ADAPTER],
      ["an adapter that has a number only", "vllm", NUMBERED_ADAPTER],
      ["pictures in later blocks", "vllm", PICTURES],
      ["no salt", "sglang", LEFT],
      ["a cache salt", "sglang", TENANT],
    ];
    for (const [name, engine, blocks] of namespaces) {
      for (const shape of ["array", "map"] as const) {
        scenario(
          `Warmpath finds blocks of an engine "${engine}" with ${name}, in ${shape}s, only under the same`,
          async (stream) => {
            const { peer } = stream;
            await stream.staysSynchronized(async () => {
              await peer.publish([stored(blocks.slice(0, 2)), stored(RIGHT.slice(0, 2))]);
              await peer.publish([stored(blocks.slice(2, 5)), stored(blocks.slice(0, 1), "host")]);
              await peer.publish([stored(blocks.slice(5)), removed(blocks.slice(0, 1))]);
            });
            await stream.staysSynchronized(() => peer.publish([removed(blocks.slice(3, 4)), stored(RIGHT.slice(2))]));
            await stream.staysSynchronized(() => peer.publish([stored(blocks.slice(3, 4), "disk")]));
          },
          {
            peers: [{ engine }],
            prepare: async (peer) => {
              peer.form = { ...peer.form, shape };
              await peer.publish([stored(RIGHT, "host")]);
            },
          },
        );
      }
    }

    scenario(
      "Warmpath keeps the same tokens in several namespaces apart in one stream, also through a replay",
      async (stream) => {
        const { peer } = stream;
        await stream.catchesUp();
        await peer.lose([stored(ADAPTER), stored(OTHER_TENANT.slice(0, 2))]);
        await peer.publish([stored(PICTURES.slice(0, 3)), removed(TENANT.slice(4))]);
        await stream.catchesUp();
        await peer.publish([removed(ADAPTER.slice(6)), stored(PICTURES.slice(3)), removed(LEFT.slice(2))]);
        await stream.catchesUp();
        await stream.staysSynchronized(() => peer.publish([CLEARED, stored(TENANT_OF_ADAPTER), stored(OTHER_ADAPTER)]));
      },
      { peers: [{ engine: "vllm" }], prepare: (peer) => peer.publish([stored(LEFT), stored(TENANT)]) },
    );
  },
  { prompts: PROMPTS },
);
