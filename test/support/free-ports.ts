/**
 * Ports for peers that close and open them again: below 32768, where no outgoing connection takes one in between, free at the time
 * of asking, and not given out twice by one process while others are left: who had a port may open it again, or still be listed.
 */

const LOWEST = 20_000;
const HIGHEST = 32_000;
const TRIES_MAX = 1000;

/** With more given out than this, all may be given again. */
const GIVEN_MAX = (HIGHEST - LOWEST) / 2;

const given = new Set<number>();

/** `count` different ports of the loopback interface. Throws when hardly any is free. */
export function freePorts(count: number): number[] {
  return freePortRuns(count, 1);
}

/** The first ports of `count` runs of `length` neighbours, none of them in two runs. Throws when hardly any is free. */
export function freePortRuns(count: number, length: number): number[] {
  const firsts: number[] = [];
  if (given.size > GIVEN_MAX) given.clear();
  for (let tries = 0; firsts.length < count; tries++) {
    if (tries === TRIES_MAX) throw new Error(`Cannot find ${count} free ports: ${firsts.length} in ${TRIES_MAX} tries`);
    const first = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const run = Array.from({ length }, (_, n) => first + n);
    if (!run.every((port) => !given.has(port) && isFree(port))) continue;
    firsts.push(first);
    for (const port of run) given.add(port);
  }
  return firsts;
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => {} } }).stop();
    return true;
  } catch {
    return false;
  }
}
