/** Streams that break a rule on purpose, so that the simulation can be seen to notice. */

import type { Unsynchronized } from "#domain";
import { type HeldBatch, StreamIndex, type StreamSockets } from "#stream";
import type { ReceivedBatch, RecoveryReply } from "#wire";

/** Gives every live batch after the first the next number, whatever its own is. */
export function hideGaps(sockets: StreamSockets): StreamSockets {
  let last: number | null = null;
  return instead(sockets, {
    receive(): ReceivedBatch | null {
      const message = sockets.receive();
      if (message?.kind !== "batch") return message;
      if (last === null) last = message.batchSeq;
      else if (message.batchSeq > last) last += 1;
      return { ...message, batchSeq: last };
    },
  });
}

/** Gives every batch of an answer the number after the one before it. */
export function hideHoles(sockets: StreamSockets): StreamSockets {
  let next: number | null = null;
  return instead(sockets, {
    ask(start: number): void {
      next = null;
      sockets.ask(start);
    },
    receiveReply(): RecoveryReply | null {
      const reply = sockets.receiveReply();
      if (reply?.kind !== "batch") return reply;
      const batchSeq = next ?? reply.batchSeq;
      next = batchSeq + 1;
      return { ...reply, batchSeq };
    },
  });
}

function instead(sockets: StreamSockets, others: Partial<StreamSockets>): StreamSockets {
  return new Proxy(sockets, {
    get(target, name) {
      if (name in others) return Reflect.get(others, name);
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Says that it has applied the held batches, and has not. */
export class ForgetfulIndex extends StreamIndex {
  override adoptSnapshot(...[watermark, snapshot, held]: Parameters<StreamIndex["adoptSnapshot"]>) {
    return withLast(super.adoptSnapshot(watermark, snapshot, []), held);
  }

  override showHeld(...[after, held]: Parameters<StreamIndex["showHeld"]>) {
    return withLast(super.showHeld(after, []), held);
  }
}

function withLast<Adoption extends { kind: string }>(adoption: Adoption, held: readonly HeldBatch[]): Adoption {
  const last = held.at(-1);
  return adoption.kind === "adopted" && last !== undefined ? { ...adoption, batchSeq: last.batchSeq } : adoption;
}

/** Goes on answering. */
export class ShamelessIndex extends StreamIndex {
  override hide(_problem: Unsynchronized): void {}
}

/** Takes every process for the one that it knows. */
export class TrustfulIndex extends StreamIndex {
  override isLast(): boolean {
    return true;
  }
}

/** Keeps what it should forget. */
export class RetentiveIndex extends StreamIndex {
  override forget(): void {}
}

/** Takes stores for presence where copies count, and itself for one that knows everything. */
export class SimpleIndex extends StreamIndex {
  constructor(...[id, stream, writer, dialect]: ConstructorParameters<typeof StreamIndex>) {
    super(id, { ...stream, engine: "xllm" }, writer, dialect);
  }
}
