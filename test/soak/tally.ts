/** What a process of a soak asked and was answered: counts by request and answer, and every answer that must not be. */

export interface TallyReport {
  /** By `request answer`, as `query as JSON 200`. */
  answers: Record<string, number>;
  /** What happened by itself, by name. */
  events: Record<string, number>;
  violations: string[];
}

/** A fault that shows in every answer is told often enough. */
const VIOLATIONS_MAX = 20;

export class Tally {
  readonly #answers = new Map<string, number>();
  readonly #events = new Map<string, number>();
  readonly #violations: string[] = [];

  /** Counts an answer, and says when its status is none of those that are documented for the request. */
  answered(request: string, status: number, allowed: readonly number[], detail = ""): void {
    count(this.#answers, `${request} ${status}`);
    if (!allowed.includes(status)) this.violated(`${request}: ${status} ${detail.slice(0, 500)}`);
  }

  happened(event: string): void {
    count(this.#events, event);
  }

  violated(what: string): void {
    if (this.#violations.length < VIOLATIONS_MAX) this.#violations.push(what);
  }

  report(): TallyReport {
    return {
      answers: Object.fromEntries(this.#answers),
      events: Object.fromEntries(this.#events),
      violations: [...this.#violations],
    };
  }
}

export function emptyReport(): TallyReport {
  return { answers: {}, events: {}, violations: [] };
}

/** Adds the second to the first. */
export function addReport(sum: TallyReport, { answers, events, violations }: TallyReport): void {
  for (const [name, number] of Object.entries(answers)) sum.answers[name] = (sum.answers[name] ?? 0) + number;
  for (const [name, number] of Object.entries(events)) sum.events[name] = (sum.events[name] ?? 0) + number;
  sum.violations.push(...violations);
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
