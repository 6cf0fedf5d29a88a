/** Streams that break a rule on purpose, so that the simulation can be seen to notice. */

import type { Unsynchronized } from "#domain";
import { StreamIndex, type StreamSockets } from "#stream";

/** Gives every batch after the first the next number, whatever its own is. */
export function hideGaps(sockets: StreamSockets): StreamSockets {
  let last: number | null = null;
  const receive = () => {
    const message = sockets.receive();
    if (message?.kind !== "batch") return message;
    if (last === null) last = message.batchSeq;
    else if (message.batchSeq > last) last += 1;
    return { ...message, batchSeq: last };
  };
  return new Proxy(sockets, {
    get(target, name) {
      if (name === "receive") return receive;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Says that it has applied the held batches, and has not. */
export class ForgetfulIndex extends StreamIndex {
  override adoptSnapshot(...[watermark, snapshot, held]: Parameters<StreamIndex["adoptSnapshot"]>) {
    const adoption = super.adoptSnapshot(watermark, snapshot, []);
    return adoption.kind === "adopted" ? { ...adoption, batchSeq: held.at(-1)?.batchSeq ?? adoption.batchSeq } : adoption;
  }
}

/** Goes on answering. */
export class ShamelessIndex extends StreamIndex {
  override hide(_problem: Unsynchronized): void {}
}
