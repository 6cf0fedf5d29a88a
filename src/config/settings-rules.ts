/** What must hold between settings. A rule looks at settings that are right by themselves and skips the others. */

import type { Problem } from "./errors.ts";
import type { SettledSettings } from "./settle-settings.ts";

/** Problems between settings; each names the settings as they were given. */
export function settingsRuleProblems({ settings, sources }: SettledSettings): Problem[] {
  const { car_host_hit_weight: hostWeight, car_disk_hit_weight: diskWeight } = settings;
  // Disk is slower than memory: a larger weight is a slip, and would send requests to the slower copy.
  if (hostWeight === undefined || diskWeight === undefined || diskWeight <= hostWeight) return [];
  const diskSource = sources.get("car_disk_hit_weight");
  const host = sources.get("car_host_hit_weight") ?? "car_host_hit_weight";
  return [
    {
      setting: diskSource ?? "car_disk_hit_weight",
      found: diskSource === undefined ? `${diskWeight} by default` : String(diskWeight),
      needed: `at most ${host} ${hostWeight}`,
    },
  ];
}
