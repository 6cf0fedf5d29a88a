/**
 * SLO_AWARE's rules: who prefills, who decodes, and whether a prefill instance is to change sides. Pure; the source is the SLO
 * policy of xLLM's service, in real numbers.
 */

/** The times to be met, milliseconds. */
export interface SloTargets {
  targetTtftMs: number;
  targetTpotMs: number;
}

export interface PrefillOption {
  /** What it has still to prefill, without this request (EPT). */
  estimatedPrefillMs: number;
}

export interface DecodeOption {
  /** Of what it was given to prefill besides. */
  estimatedPrefillMs: number;
  /** For each token once this request has joined (e). */
  tpotMs: number;
}

export interface Schedule<Prefill, Decode> {
  /** Mostly the first choice; under pressure a decode instance that has time. */
  prefill: Prefill | Decode;
  decode: Decode;
  /** The first choice is wanted on the decode side. */
  isFlipWanted: boolean;
}

/**
 * Places a request. `first` is the prefill option with the least to do; `prefill` (P of them, `first` among them) and `decode` (D
 * of them, at least one) are the whole sides.
 *
 *   target    the first decode option with e ≤ target TPOT; min: the one with the least e
 *   decode    on target, else on min
 *   prefill   on min, if EPT(first) > target TTFT, target ≠ min, e(min) < target TPOT·(D−1)/D and EPT(min) < EPT(first);
 *             else on first
 *   flip      first, if there is no target, and ΣEPT/P < target TTFT·(P−1)/P or D < P; neither holds of the last of its side
 */
export function schedule<Prefill extends PrefillOption, Decode extends DecodeOption>(
  first: Prefill,
  prefill: readonly Prefill[],
  decode: readonly Decode[],
  { targetTtftMs, targetTpotMs }: SloTargets,
): Schedule<Prefill, Decode> {
  const [prefillCount, decodeCount] = [prefill.length, decode.length];
  const target = decode.find(({ tpotMs }) => tpotMs <= targetTpotMs);
  const min = decode.reduce((least, option) => (option.tpotMs < least.tpotMs ? option : least));

  const isPrefillLate = first.estimatedPrefillMs > targetTtftMs;
  const hasMinTime =
    min.tpotMs < (targetTpotMs * (decodeCount - 1)) / decodeCount && min.estimatedPrefillMs < first.estimatedPrefillMs;
  const isMinFree = target !== min && hasMinTime;

  const averageMs = prefill.reduce((sum, { estimatedPrefillMs }) => sum + estimatedPrefillMs, 0) / prefillCount;
  const canSpareOne = averageMs < (targetTtftMs * (prefillCount - 1)) / prefillCount || decodeCount < prefillCount;

  return {
    prefill: isPrefillLate && isMinFree ? min : first,
    decode: target ?? min,
    isFlipWanted: target === undefined && canSpareOne,
  };
}
