/** Warmpath's own CURVE keys: one pair for all streams of the process. */

import type { Logger } from "#base";
import { type CurveKeyPair, createCurveKeyPair, curveKeyPairOf, hasCurve } from "#wire";

/**
 * The pair of this secret key, or a fresh one without. Null where libzmq has no CURVE: the streams that need it say so. The
 * public key of a lasting pair is logged, for engines that accept known clients alone.
 */
export function curveClientKeys(secretKey: string | null, logger: Logger): CurveKeyPair | null {
  if (!hasCurve()) return null;
  if (secretKey === null) return createCurveKeyPair();
  const keys = curveKeyPairOf(secretKey);
  logger.info("CURVE client key", { public_key: keys.publicKey });
  return keys;
}
