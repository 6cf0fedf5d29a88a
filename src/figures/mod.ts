/** Numbers and times as people read them, in the terminal and on the page: pure, and the one room that browsers run too. */

export { type DurationUnits, durationText, formatCount, formatCounted, formatScore, shareText } from "./figures.ts";
