/**
 * Bodies that bring a prompt's tokens, in three forms: JSON, MessagePack and bare u32. Receiving waits for the body; decoding is
 * synchronous and writes the tokens straight into memory shared with the index, without a JavaScript value per token.
 */

export { decodeTokenBodies, decodeTokenBody } from "./decode.ts";
export type { DecodedBatch, DecodedBody } from "./decoded-body.ts";
export { JsonCursor } from "./json-cursor.ts";
export { type BodyForm, type ReceivedBody, receiveTokenBody } from "./receive.ts";
export { TOKEN_MAX } from "./token-problems.ts";
