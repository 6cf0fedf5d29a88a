import type { Effect } from "../../src/stream/state.ts";

/** An effect as the README's tables name it: `start answer`, `count repeated-batch`, `hold-batch`. */
export function effectName(effect: Effect): string {
  if (effect.type === "start-timer") return `start ${effect.timer}`;
  if (effect.type === "stop-timer") return `stop ${effect.timer}`;
  if (effect.type === "count") return `count ${effect.drop}`;
  return effect.type;
}
