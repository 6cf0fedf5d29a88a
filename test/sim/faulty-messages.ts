/** What arrives of a batch, a snapshot or a replay: itself, or what the fault plan makes of it. */

import { encodeBatch, type SeededRandom } from "#sim";
import type { ReceivedBatch, RecoveryReply } from "#wire";
import type { Faults } from "./faults.ts";
import type { Batch, Publisher } from "./publisher.ts";

/** How a stream recovers: from a snapshot, from a replay, or not at all. */
export type RecoveryKind = "snapshot" | "replay" | "none";

interface FaultPlan {
  faults: Faults;
  random: SeededRandom;
}

const OTHER_RANK = 99;
const END: RecoveryReply = { kind: "end" };

/** What a subscriber receives when `batch` is published; `recent` are the batches published last. */
export function faultyBatch(
  batch: Batch,
  recent: readonly Batch[],
  recovery: RecoveryKind,
  { faults, random }: FaultPlan,
): ReceivedBatch[] {
  const whole: ReceivedBatch = { kind: "batch", ...batch };
  // Where only a snapshot would tell, a batch 0 that is lost cannot be told from one that never was.
  if (batch.batchSeq === 0 && recovery === "snapshot") return [whole];
  if (faults.happens("batch dropped")) return [];
  if (faults.happens("message malformed")) return [{ kind: "malformed-frames", frames: 2 }];
  if (faults.happens("message oversized")) return [{ kind: "oversized" }];
  if (faults.happens("batch with bad bytes")) return [{ ...whole, payload: cutOff(batch.payload, random) }];
  if (recovery === "snapshot" && faults.happens("batch of another rank"))
    return [{ ...whole, payload: encodeBatch([], OTHER_RANK, 0) }];
  const messages: ReceivedBatch[] = [whole];
  if (faults.happens("batch duplicated")) messages.push(whole);
  if (faults.happens("old batch repeated")) messages.push({ kind: "batch", ...recent[random.integerBelow(recent.length)] });
  if (faults.happens("message of another topic")) messages.push({ kind: "foreign-topic" });
  return messages;
}

/** What arrives when the process answers a request now. */
export function faultySnapshot(publisher: Publisher, { faults, random }: FaultPlan): RecoveryReply[] {
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

/** What arrives when the process repeats its batches from `start` on. */
export function faultyReplay(publisher: Publisher, start: number, { faults, random }: FaultPlan): RecoveryReply[] {
  const first = faults.happens("replay from too early on") ? 0 : start;
  const batches = publisher.replay(first).map((batch): RecoveryReply => ({ kind: "batch", ...batch }));
  const somewhere = random.integerBelow(batches.length + 1);
  if (faults.happens("reply refused")) return [{ kind: "refused" }];
  if (faults.happens("reply malformed")) return [...batches.slice(0, somewhere), { kind: "malformed" }, END];
  if (faults.happens("reply oversized")) return [...batches.slice(0, somewhere), { kind: "oversized" }];
  if (faults.happens("reply without its end")) return batches;
  if (faults.happens("replay cut")) return batches.slice(0, somewhere);
  if (faults.happens("replay without its last batches")) return [...batches.slice(0, somewhere), END];
  if (faults.happens("end without a reply")) return [END];
  if (faults.happens("reply doubled")) return [...batches, ...batches, END, END];
  const holed = batches.length > 0 && faults.happens("replay with a hole") ? batches.toSpliced(somewhere, 2) : batches;
  const last = holed[somewhere];
  if (last?.kind === "batch" && faults.happens("reply with bad bytes")) {
    return [...holed.with(somewhere, { ...last, payload: cutOff(last.payload, random) }), END];
  }
  return [...holed, END];
}

/** Bytes that no decoder can take for a batch. */
function cutOff(payload: Uint8Array, random: SeededRandom): Uint8Array {
  return payload.subarray(0, random.integerBelow(payload.length));
}
