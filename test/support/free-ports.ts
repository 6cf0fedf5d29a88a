/**
 * Ports for peers that close and open them again: below 32768, where no outgoing connection takes one in between, and free at
 * the time of asking.
 */

const LOWEST = 20_000;
const HIGHEST = 32_000;
const TRIES_MAX = 1000;

/** `count` different ports of the loopback interface. Throws when hardly any is free. */
export function freePorts(count: number): number[] {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries === TRIES_MAX) throw new Error(`Cannot find ${count} free ports: ${ports.size} in ${TRIES_MAX} tries`);
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => {} } }).stop();
    return true;
  } catch {
    return false;
  }
}
