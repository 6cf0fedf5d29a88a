/**
 * Decisions that an instance's load report cannot reflect yet: without them every request between two reports would go to the
 * instance that the last report showed as idle. One object for each side.
 */

/** After this a request counts no longer, whatever is heard of it: longer than a lost engine stays in the fleet. */
export const IN_FLIGHT_MS = 30_000;

/** Requests remembered at most: 2,000 a second for the whole time. The oldest is forgotten for a further one, and counted. */
const IN_FLIGHT_MAX = 65_536;

interface Sent {
  readonly requestId: string;
  readonly instanceName: string;
  readonly sentAtMs: number;
}

export class InFlight {
  /** Both from the oldest to the newest. */
  readonly #byRequest = new Map<string, Sent>();
  readonly #byInstance = new Map<string, Set<Sent>>();
  readonly #requestsMax: number;
  #forgotten = 0;

  constructor(requestsMax: number = IN_FLIGHT_MAX) {
    this.#requestsMax = requestsMax;
  }

  /** Requests forgotten for want of room. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Requests that count, and those whose time has run out since their instance was looked at last. */
  get size(): number {
    return this.#byRequest.size;
  }

  /** A request goes to the instance; one of the same id that went out before counts no longer. `nowMs` never goes back. */
  send(requestId: string, instanceName: string, nowMs: number): void {
    this.finish(requestId);
    this.#makeRoom(nowMs);
    const sent: Sent = { requestId, instanceName, sentAtMs: nowMs };
    this.#byRequest.set(requestId, sent);
    const others = this.#byInstance.get(instanceName);
    if (others === undefined) this.#byInstance.set(instanceName, new Set([sent]));
    else others.add(sent);
  }

  /** The request waits no longer. One that is not known has been reported or has run out of time before. */
  finish(requestId: string): void {
    const sent = this.#byRequest.get(requestId);
    if (sent !== undefined) this.#end(sent);
  }

  /** Requests sent to the instance at or after `reportedAtMs`, when its load was reported, and within the time. */
  count(instanceName: string, reportedAtMs: number, nowMs: number): number {
    const waiting = this.#byInstance.get(instanceName);
    if (waiting === undefined) return 0;
    for (const sent of waiting) {
      if (sent.sentAtMs >= reportedAtMs && !isExpired(sent, nowMs)) break;
      this.#end(sent);
    }
    return waiting.size;
  }

  /** What `count` would tell if the request `exceptRequestId` were finished. Drops nothing; costs a look at each that is there. */
  peek(instanceName: string, reportedAtMs: number, nowMs: number, exceptRequestId: string): number {
    let waiting = 0;
    for (const sent of this.#byInstance.get(instanceName) ?? []) {
      if (sent.sentAtMs >= reportedAtMs && !isExpired(sent, nowMs) && sent.requestId !== exceptRequestId) waiting++;
    }
    return waiting;
  }

  forgetInstance(instanceName: string): void {
    for (const sent of this.#byInstance.get(instanceName) ?? []) this.#end(sent);
  }

  reset(): void {
    this.#byRequest.clear();
    this.#byInstance.clear();
    this.#forgotten = 0;
  }

  #makeRoom(nowMs: number): void {
    for (const sent of this.#byRequest.values()) {
      const isFull = this.#byRequest.size >= this.#requestsMax;
      if (!isExpired(sent, nowMs)) {
        if (!isFull) return;
        this.#forgotten++;
      }
      this.#end(sent);
    }
  }

  #end(sent: Sent): void {
    this.#byRequest.delete(sent.requestId);
    const others = this.#byInstance.get(sent.instanceName);
    others?.delete(sent);
    if (others?.size === 0) this.#byInstance.delete(sent.instanceName);
  }
}

function isExpired(sent: Sent, nowMs: number): boolean {
  return nowMs - sent.sentAtMs >= IN_FLIGHT_MS;
}
