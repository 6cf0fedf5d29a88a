/** Programmer errors: an invariant that does not hold stops whatever relied on it. */

/** Throws when `condition` is false; `what` states the invariant that was broken. */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${what}`);
}
