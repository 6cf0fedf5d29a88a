import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ClientLoop } from "../../src/client/lib/client-loop.ts";
import { resolveClientOptions } from "../../src/client/lib/client-options.ts";
import { type ClientReport, QUEUE_BYTES_MAX, QUEUE_REPORTS_MAX } from "../../src/client/lib/client-protocol.ts";
import { EnginePublisher, stored } from "./engine-publisher.ts";

describe("ClientLoop", () => {
  let publisher: EnginePublisher;
  let loop: ClientLoop;
  let running: Promise<void>;
  let reports: ClientReport[];

  const batches = () => reports.flatMap((report) => (report.type === "batch" ? [report] : []));

  /** Turns of the loop, which shares this thread, until `isTrue` or, where it must not become true, for a while. */
  const turns = async (isTrue: () => boolean, countMax = 20_000) => {
    for (let turn = 0; turn < countMax && !isTrue(); turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  beforeEach(async () => {
    publisher = new EnginePublisher({ bufferBatches: 20_000 });
    reports = [];
    const { endpoint, replayEndpoint } = publisher;
    const environment = { AIBRIX_ZMQ_POLL_TIMEOUT: "1ms" };
    loop = new ClientLoop(resolveClientOptions({ endpoint, replayEndpoint, engine: "vllm" }, environment), (report) =>
      reports.push(report),
    );
    running = loop.run();
    await publisher.untilSubscribed();
    await turns(() => reports.some(({ type }) => type === "replay-answered"));
  });

  afterEach(async () => {
    loop.stop();
    await running;
    publisher.close();
  });

  test("ClientLoop stops reading when its reports are not handled, and loses nothing once they are", async () => {
    for (let hash = 0; hash < 3000; hash++) publisher.publish([stored(BigInt(hash))]);
    await turns(() => reports.length >= QUEUE_REPORTS_MAX);
    await turns(() => reports.length > QUEUE_REPORTS_MAX, 100);
    expect(reports).toHaveLength(QUEUE_REPORTS_MAX);
    let handled = 0;
    await turns(() => {
      loop.handled(reports.length - handled, payloadBytes(reports.slice(handled)));
      handled = reports.length;
      return batches().length === 3000;
    });
    expect(batches().map(({ batchSeq }) => batchSeq)).toEqual(Array.from({ length: 3000 }, (_, index) => index));
  });

  test("ClientLoop stops reading at its bound of payload bytes, too", async () => {
    const payload = new Uint8Array(8_000_000);
    for (let batchSeq = 0; batchSeq < 8; batchSeq++) publisher.send(batchSeq, payload);
    const full = Math.ceil(QUEUE_BYTES_MAX / payload.length);
    await turns(() => batches().length >= full);
    await turns(() => batches().length > full, 100);
    expect(batches()).toHaveLength(full);
    loop.handled(reports.length, payloadBytes(reports));
    await turns(() => batches().length === 8);
    expect(batches()).toHaveLength(8);
  });
});

function payloadBytes(reports: readonly ClientReport[]): number {
  return reports.reduce((sum, report) => sum + (report.type === "batch" ? report.payload.length : 0), 0);
}
