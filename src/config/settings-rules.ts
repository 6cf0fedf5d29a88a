/** What must hold between settings. A rule looks at settings that are right by themselves and skips the others. */

import type { Problem } from "./errors.ts";
import type { SettledSettings } from "./settle-settings.ts";

/** The first must not be above the second. */
const ORDERED = [
  // Disk is slower than memory: a larger weight is a slip, and would send requests to the slower copy.
  ["car_disk_hit_weight", "car_host_hit_weight"],
  // Between two looks at its metrics an instance would be without a load, and serve nobody.
  ["load_scrape_interval_ms", "load_report_max_age_ms"],
] as const;

/** Problems between settings; each names the settings as they were given. */
export function settingsRuleProblems({ settings, sources }: SettledSettings): Problem[] {
  return ORDERED.flatMap(([smaller, larger]) => {
    const [value, limit] = [settings[smaller], settings[larger]];
    if (value === undefined || limit === undefined || value <= limit) return [];
    const source = sources.get(smaller);
    return {
      setting: source ?? smaller,
      found: source === undefined ? `${value} by default` : String(value),
      needed: `at most ${sources.get(larger) ?? larger} ${limit}`,
    };
  });
}
