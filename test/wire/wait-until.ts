/** Waits in a poller, not in time, until something has happened over real sockets. */

import { Poller, type ZmqSocket } from "#wire";

/** Far above what loopback needs; reached only when the test fails. */
const LIMIT_MS = 5000;
const LOOK_AGAIN_MS = 20;

/** Calls `look` whenever one of `sockets` may have news, until it returns something else than null or undefined. */
export function waitUntil<Found>(sockets: readonly ZmqSocket[], look: () => Found | null | undefined): Found {
  const poller = new Poller<ZmqSocket>();
  for (const socket of sockets) poller.add(socket, socket);
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`Nothing was found within ${LIMIT_MS} ms`);
    poller.wait(LOOK_AGAIN_MS);
  }
}
