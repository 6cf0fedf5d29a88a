/** Waiting for something to become true, for tests of what happens by itself. */

/** At first looks are closer: what comes at once may be gone soon. */
const POLL_MS_MAX = 10;
const POLL_SHARE = 0.02;

/** Resolves once `look` gives true; throws, naming `what`, when it does not within `timeoutMs`. Errors of `look` pass through. */
export async function eventually(what: string, look: () => boolean | Promise<boolean>, timeoutMs = 8000): Promise<void> {
  const startedAtMs = performance.now();
  while (!(await look())) {
    const passedMs = performance.now() - startedAtMs;
    if (passedMs > timeoutMs) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}`);
    await Bun.sleep(Math.min(POLL_MS_MAX, passedMs * POLL_SHARE));
  }
}
