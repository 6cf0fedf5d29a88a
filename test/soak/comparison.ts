/** What a soak compares: each quantity before and after the churn, how much it may have grown, and why that much. */

export type Unit = "count" | "bytes" | "per second" | "seconds";

export interface Allowance {
  /** What it may have grown by: this share of what it was, and this much. */
  share: number;
  amount: number;
  reason: string;
}

export interface Quantity {
  name: string;
  unit: Unit;
  allowance: Allowance;
  /** Null: nobody can see it. */
  before: number | null;
  after: number | null;
}

/** Back to what it was, or below. */
export const NOTHING: Allowance = { share: 0, amount: 0, reason: "none" };

export function mayGrow(share: number, amount: number, reason: string): Allowance {
  return { share, amount, reason };
}

function limitOf({ before, allowance }: Quantity): number {
  return (before ?? 0) * (1 + allowance.share) + allowance.amount;
}

export function hasGrown(quantity: Quantity): boolean {
  const { after, before } = quantity;
  return before !== null && after !== null && after > limitOf(quantity);
}

/** As Markdown, with a verdict for each. */
export function comparisonTable(quantities: readonly Quantity[]): string {
  const rows = quantities.map((quantity) => {
    const { name, unit, before, after, allowance } = quantity;
    const verdict = before === null || after === null ? "not visible" : hasGrown(quantity) ? "HAS GROWN" : "ok";
    const limit = before === null ? "" : format(limitOf(quantity), unit);
    return `| ${name} | ${format(before, unit)} | ${format(after, unit)} | ${limit} | ${verdict} | ${allowance.reason} |`;
  });
  return [
    "| what | after the first minute | at the end | at most | | room for |",
    "| --- | ---: | ---: | ---: | --- | --- |",
    ...rows,
  ].join("\n");
}

export function format(value: number | null, unit: Unit): string {
  if (value === null) return "";
  switch (unit) {
    case "count":
      return Math.round(value).toLocaleString("en");
    case "bytes":
      return `${(value / 2 ** 20).toFixed(1)} MiB`;
    case "per second":
      return value.toFixed(1);
    case "seconds":
      return value.toFixed(3);
  }
}
