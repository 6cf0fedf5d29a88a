/** How a request fares once it is placed, as whoever sees its answer tells. */

/** Its first token, further ones, its end, its end before that. */
export const REQUEST_STEPS = ["finish-prefill", "generate", "finish-decode", "cancel"] as const;

export type RequestStep = (typeof REQUEST_STEPS)[number];
