/**
 * How long an instance needs, estimated from what its engine measured of itself. Source: xLLM service's time predictor, in real
 * numbers (it truncates to whole milliseconds).
 */

import type { TpotSample, TtftSample } from "#domain";
import { leastSquares } from "./least-squares.ts";

/** Milliseconds to prefill a prompt. */
export type TtftCurve = (promptTokens: number) => number;

/** Milliseconds for each token of a batch of requests that have so many tokens together. */
export type TpotCurve = (totalTokens: number, batchRequests: number) => number;

/**
 * `ttft(n) = a0 + a1·n + a2·n²` by least squares. Two different lengths give a line, one a constant, none 0. Never negative,
 * whatever the parabola does between the samples.
 */
export function ttftCurve(samples: readonly TtftSample[]): TtftCurve {
  // Lengths relative to the longest: squares of real lengths would drown the constant.
  const scale = Math.max(1, ...samples.map(([promptTokens]) => promptTokens));
  const lengths = samples.map(([promptTokens]) => promptTokens / scale);
  const columns = [lengths.map(() => 1), lengths, lengths.map((length) => length * length)];
  const [constant, linear, square] = leastSquares(
    columns,
    samples.map(([, ms]) => ms),
  );
  return (promptTokens) => {
    const length = promptTokens / scale;
    return notNegative(constant + linear * length + square * length * length);
  };
}

/**
 * `tpot(L, b) = c0 + c1·b + c2·L` by least squares, where a sample's L is `b·(average tokens − 1)`: the token being made is not
 * there yet. Samples that vary too little give fewer terms, none 0. Never negative.
 */
export function tpotCurve(samples: readonly TpotSample[]): TpotCurve {
  const totals = samples.map(([averageTokens, batchRequests]) => batchRequests * (averageTokens - 1));
  const columns = [samples.map(() => 1), samples.map(([, batchRequests]) => batchRequests), totals];
  const [constant, perRequest, perToken] = leastSquares(
    columns,
    samples.map(([, , ms]) => ms),
  );
  return (totalTokens, batchRequests) => notNegative(constant + perRequest * batchRequests + perToken * totalTokens);
}

function notNegative(ms: number): number {
  return Math.max(ms, 0);
}
