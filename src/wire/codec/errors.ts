/** What decoding a batch can fail with. */

/** The bytes are no batch of KV events: broken MessagePack, or another shape. */
export class MalformedBatchError extends Error {
  override readonly name = "MalformedBatchError";
  readonly payloadBytes: number;

  constructor(payloadBytes: number) {
    super(`Cannot decode event batch: ${payloadBytes} bytes are no MessagePack array or map with events, which is needed`);
    this.payloadBytes = payloadBytes;
  }
}
