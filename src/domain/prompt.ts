/** A prompt: the tokens of one request. */

/** The largest prompt that is matched: 1 M tokens, beyond any engine's context window. */
export const TOKENS_MAX = 1_048_576;
