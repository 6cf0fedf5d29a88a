import { describe, expect, test } from "bun:test";
import { isCurveKey } from "#domain";
import { createCurveKeyPair, curveKeyPairOf, hasCurve } from "#wire";

describe("CURVE keys", () => {
  test("libzmq as it comes with the package has CURVE", () => {
    expect(hasCurve()).toBe(true);
  });

  test("createCurveKeyPair makes two keys, and others each time", () => {
    const pairs = [createCurveKeyPair(), createCurveKeyPair()];
    const keys = pairs.flatMap(({ publicKey, secretKey }) => [publicKey, secretKey]);
    expect(keys.filter((key) => !isCurveKey(key))).toEqual([]);
    expect(new Set(keys).size).toBe(4);
  });

  test("curveKeyPairOf finds the public key of a secret one", () => {
    const pair = createCurveKeyPair();
    expect(curveKeyPairOf(pair.secretKey)).toEqual(pair);
    // The pair that ZeroMQ's documentation shows.
    expect(curveKeyPairOf("D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs").publicKey).toBe("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID");
  });
});
