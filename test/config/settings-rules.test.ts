import { expect, test } from "bun:test";
import { settingsRuleProblems } from "../../src/config/settings-rules.ts";
import { settleSettings } from "../../src/config/settle-settings.ts";

function problems(given: Record<string, string>, environment: Record<string, string> = {}): string[] {
  const settled = settleSettings(new Map(Object.entries(given)), environment);
  return settingsRuleProblems(settled).map(({ setting, found, needed }) => `${setting}: found ${found}, needed ${needed}`);
}

test("settingsRuleProblems takes a disk weight up to the host weight", () => {
  expect(problems({})).toEqual([]);
  expect(problems({ car_host_hit_weight: "0.3", car_disk_hit_weight: "0.3" })).toEqual([]);
  expect(problems({ car_host_hit_weight: "0", car_disk_hit_weight: "0" })).toEqual([]);
});

test("settingsRuleProblems refuses a disk weight above the host weight and names both as they were given", () => {
  expect(problems({ car_disk_hit_weight: "0.6" })).toEqual([
    "--car-disk-hit-weight: found 0.6, needed at most car_host_hit_weight 0.5",
  ]);
  expect(problems({ car_disk_hit_weight: "1" }, { WARMPATH_CAR_HOST_HIT_WEIGHT: "0.9" })).toEqual([
    "--car-disk-hit-weight: found 1, needed at most WARMPATH_CAR_HOST_HIT_WEIGHT 0.9",
  ]);
});

test("settingsRuleProblems refuses a host weight below the default of the disk weight", () => {
  expect(problems({ car_host_hit_weight: "0.1" })).toEqual([
    "car_disk_hit_weight: found 0.25 by default, needed at most --car-host-hit-weight 0.1",
  ]);
});

test.each([
  { car_host_hit_weight: "none", car_disk_hit_weight: "1" },
  { car_host_hit_weight: "0", car_disk_hit_weight: "2" },
])("settingsRuleProblems does not judge %j, where one weight is wrong by itself", (given) => {
  expect(problems(given)).toEqual([]);
});

test("settingsRuleProblems refuses looks at metrics that are rarer than a load report lasts", () => {
  expect(problems({ load_scrape_interval_ms: "0", load_report_max_age_ms: "100" })).toEqual([]);
  expect(problems({ load_report_max_age_ms: "999" })).toEqual([
    "load_scrape_interval_ms: found 1000 by default, needed at most --load-report-max-age-ms 999",
  ]);
});
