/**
 * A program that follows one vLLM engine's cache: `bun scripts/example-client.ts [host [port [replay port]]]`. It prints one line
 * a batch.
 */

import { KvEventClient } from "warmpath";

const client = new KvEventClient({
  host: process.argv[2] ?? "127.0.0.1",
  pubPort: Number(process.argv[3] ?? 5557),
  routerPort: Number(process.argv[4] ?? 5558),
  engine: "vllm",
  onEvents: ({ batchSeq, events }) => console.log(`batch ${batchSeq}: ${events.map(({ type }) => type).join(", ")}`),
  onGap: ({ from, to }) => console.log(`batches ${from} to ${to} are lost`),
});
await client.start();
process.once("SIGTERM", () => void client.close());
