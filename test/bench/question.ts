/**
 * What a benchmark is: groups of questions that share something expensive to prepare. A question's name says what is measured
 * and at which size; its answer is figures, and a checksum of what was computed.
 */

import type { Scale } from "./scale.ts";

export type Unit = "us" | "ms" | "bytes" | "blocks/s" | "requests/s";

export type Target = { kind: "at-most"; limit: number } | { kind: "at-least"; limit: number };

export interface Figure {
  /** `p50`, `p99`, `median`: which number of the distribution this is. */
  label: string;
  value: number;
  unit: Unit;
  /** Null for a figure that explains another one. */
  target: Target | null;
}

export interface Answer {
  figures: Figure[];
  /** Equal for equal scales, whatever the speed: a row that computes something else than it did shows. */
  checksum: string;
}

export interface Row extends Answer {
  what: string;
}

export interface Question<Fixture> {
  what: string;
  measure(fixture: Fixture): Promise<Answer>;
}

export interface BenchGroup {
  /** Names of the rows that it gives at this scale. */
  names(scale: Scale): string[];
  /** Prepares what the questions share, and answers those whose names are wanted, one after the other. */
  run(scale: Scale, isWanted: (what: string) => boolean): AsyncGenerator<Row, void>;
}

export interface GroupParts<Fixture> {
  open(scale: Scale): Promise<Fixture>;
  close(fixture: Fixture): Promise<void>;
  questions(scale: Scale): Question<Fixture>[];
}

/** A group from its parts; nothing is opened when no question is wanted. */
export function defineGroup<Fixture>({ open, close, questions }: GroupParts<Fixture>): BenchGroup {
  return {
    names: (scale) => questions(scale).map(({ what }) => what),
    async *run(scale, isWanted) {
      const wanted = questions(scale).filter(({ what }) => isWanted(what));
      if (wanted.length === 0) return;
      const fixture = await open(scale);
      try {
        for (const { what, measure } of wanted) yield { what, ...(await measure(fixture)) };
      } finally {
        await close(fixture);
      }
    },
  };
}

export function atMost(limit: number): Target {
  return { kind: "at-most", limit };
}

export function atLeast(limit: number): Target {
  return { kind: "at-least", limit };
}
