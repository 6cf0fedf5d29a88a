/** Far above what loopback needs; reached only when the test fails. */
const LIMIT_MS = 4000;
const LOOK_AGAIN_MS = 2;

/** Until `look` is true, while real sockets do their work; `what` is for the failure. */
export async function waitFor(what: string, look: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!look()) {
    if (performance.now() > deadline) throw new Error(`Did not happen within ${LIMIT_MS} ms: ${what}`);
    await Bun.sleep(LOOK_AGAIN_MS);
  }
}
