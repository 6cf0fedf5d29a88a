/** What waiting costs, on either side. */

import type { CandidateDraft } from "../candidate.ts";

/** `waiting / max waiting` of the side, 0 to 1; 0 when nothing waits anywhere. */
export function queueCost(waitingRequests: number, waitingMax: number): number {
  return waitingMax === 0 ? 0 : waitingRequests / waitingMax;
}

/** Requests that wait at a candidate: those it reports and those that it cannot have reported yet. */
function waitingAt({ load, inFlightRequests }: CandidateDraft): number {
  return (load?.report.waitingRequests ?? 0) + inFlightRequests;
}

/** Gives each candidate of one side its queue cost. */
export function setQueueCosts(side: readonly CandidateDraft[]): void {
  let waitingMax = 0;
  for (const candidate of side) waitingMax = Math.max(waitingMax, waitingAt(candidate));
  for (const candidate of side) candidate.queueCost = queueCost(waitingAt(candidate), waitingMax);
}
