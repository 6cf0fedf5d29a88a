/** The one bar of the page: device, host and disk, in that order, as parts of a whole. */

import { element, styled } from "./element.ts";
import { formatCount } from "./format.ts";

export interface Tiers {
  device: number;
  host: number;
  disk: number;
}

/** What does not vanish is drawn this wide at least. */
const PERCENT_MIN = 0.6;

/** `whole` is what a full bar stands for; `unit` names what is counted, for those who cannot see it. */
export function tierBar(tiers: Tiers, whole: number, unit: string): HTMLElement {
  const parts = (["device", "host", "disk"] as const).filter((tier) => tiers[tier] > 0);
  const label = `${parts.map((tier) => `${formatCount(tiers[tier])} on ${tier}`).join(", ") || "nothing"} of ${formatCount(whole)} ${unit}`;
  return element(
    "div",
    { class: "tiers", role: "img", "aria-label": label, title: label },
    ...parts.map((tier) => styled(element("span", { class: tier }), { width: `${percent(tiers[tier], whole)}%` })),
  );
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.max((part / whole) * 100, PERCENT_MIN);
}
