/** Waiting for something to become true, for tests of what happens by itself. */

const POLL_MS = 10;

/** Resolves once `look` gives true; throws, naming `what`, when it does not within `timeoutMs`. Errors of `look` pass through. */
export async function eventually(what: string, look: () => boolean | Promise<boolean>, timeoutMs = 8000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await look())) {
    if (performance.now() > deadlineMs) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}`);
    await Bun.sleep(POLL_MS);
  }
}
