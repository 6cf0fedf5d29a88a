/** What arrives of a batch or of a snapshot: itself, or what the fault plan makes of it. */

import { encodeBatch, type SeededRandom } from "#sim";
import type { ReceivedBatch, RecoveryReply } from "#wire";
import type { Faults } from "./faults.ts";
import type { Batch, Publisher } from "./publisher.ts";

const OTHER_RANK = 99;
const END: RecoveryReply = { kind: "end" };

/** What a subscriber receives when `batch` is published; `recent` are the batches published last. */
export function faultyBatch(batch: Batch, recent: readonly Batch[], faults: Faults, random: SeededRandom): ReceivedBatch[] {
  const whole: ReceivedBatch = { kind: "batch", ...batch };
  // A batch 0 that is lost cannot be told from one that never was.
  if (batch.batchSeq === 0) return [whole];
  if (faults.happens("batch dropped")) return [];
  if (faults.happens("message malformed")) return [{ kind: "malformed-frames", frames: 2 }];
  if (faults.happens("message oversized")) return [{ kind: "oversized" }];
  if (faults.happens("batch with bad bytes")) return [{ ...whole, payload: cutOff(batch.payload, random) }];
  if (faults.happens("batch of another rank")) return [{ ...whole, payload: encodeBatch([], OTHER_RANK, 0) }];
  const messages: ReceivedBatch[] = [whole];
  if (faults.happens("batch duplicated")) messages.push(whole);
  if (faults.happens("old batch repeated")) messages.push({ kind: "batch", ...recent[random.integerBelow(recent.length)] });
  if (faults.happens("message of another topic")) messages.push({ kind: "foreign-topic" });
  return messages;
}

/** What arrives when the process answers a request now. */
export function faultySnapshot(publisher: Publisher, faults: Faults, random: SeededRandom): RecoveryReply[] {
  const { batchSeq: watermark, payload } = publisher.snapshot();
  const snapshot: RecoveryReply = { kind: "snapshot", watermark, payload };
  if (faults.happens("reply without its end")) return [snapshot];
  if (faults.happens("reply with bad bytes")) return [{ ...snapshot, payload: cutOff(payload, random) }, END];
  if (faults.happens("reply of another rank")) return [{ ...snapshot, payload: encodeBatch([], OTHER_RANK, 0) }, END];
  if (faults.happens("reply malformed")) return [{ kind: "malformed" }];
  if (faults.happens("reply oversized")) return [{ kind: "oversized" }];
  if (faults.happens("reply refused")) return [{ kind: "refused" }];
  if (faults.happens("reply doubled")) return [snapshot, snapshot, END];
  if (faults.happens("end without a reply")) return [END];
  return [snapshot, END];
}

/** Bytes that no decoder can take for a batch. */
function cutOff(payload: Uint8Array, random: SeededRandom): Uint8Array {
  return payload.subarray(0, random.integerBelow(payload.length));
}
