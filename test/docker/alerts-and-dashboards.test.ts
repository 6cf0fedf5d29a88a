/** Alerts and dashboards speak of metrics that there are, with labels that they have; and of every metric somewhere. */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { METRICS } from "#metrics";
import { DOCKER, dashboardQueries, isPromtoolThere, promtool, readAlerts, readDashboard } from "./prometheus-files.ts";
import { findFaults, labelsInTemplate, metricsIn } from "./promql.ts";

const dashboard = await readDashboard();
const queries = dashboardQueries(dashboard);
const alerts = await readAlerts();

describe("The Grafana dashboard", () => {
  test.each(queries)("asks for what the catalogue has: $title: $expr", ({ expr, legend }) => {
    expect(findFaults(expr, labelsInTemplate(legend))).toEqual([]);
  });

  test("shows every metric of the catalogue", () => {
    const shown = new Set(queries.flatMap(({ expr }) => metricsIn(expr)));
    expect(
      Object.values(METRICS)
        .map(({ name }) => name)
        .filter((name) => !shown.has(name)),
    ).toEqual([]);
  });

  test("has panels that neither overlap nor stand out of the 24 columns, and ids of their own", () => {
    const cells = new Set<string>();
    for (const { gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(cells).not.toContain(`${x}/${y}`);
          cells.add(`${x}/${y}`);
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  test("takes its data source from its own variable, so that it works wherever it is imported", () => {
    for (const { datasource } of queries) expect(datasource.uid).toMatch(/^\$\{datasource\}$/);
  });
});

describe("The alert rules", () => {
  test.each(alerts)("ask for what the catalogue has: $alert", ({ expr, annotations }) => {
    expect(findFaults(expr, labelsInTemplate(Object.values(annotations).join(" ")))).toEqual([]);
  });

  test.each(alerts)("say how urgent they are and what to do: $alert", ({ alert, labels, annotations }) => {
    expect(alert).toStartWith("Warmpath");
    expect(labels.severity).toBeOneOf(["page", "ticket"]);
    expect(annotations.summary).not.toBeEmpty();
    expect(annotations.description).not.toBeEmpty();
  });
});

if (!isPromtoolThere) console.log("promtool is not installed (Debian package prometheus): what it checks is skipped");
const isPromtoolNeeded = process.env.CI === "true";

describe.skipIf(!isPromtoolThere && !isPromtoolNeeded)("promtool", () => {
  test("promtool accepts the alert rules", async () => {
    expect(await promtool(["check", "rules", join(DOCKER, "prometheus/alerts.yml")])).toMatchObject({ exitCode: 0 });
  });

  test("promtool finds that alerts fire when they should", async () => {
    expect(await promtool(["test", "rules", join(DOCKER, "prometheus/alerts.test.yml")])).toMatchObject({ exitCode: 0 });
  });

  test("promtool accepts the configuration that names them", async () => {
    expect(await promtool(["check", "config", join(DOCKER, "prometheus/prometheus.yml")])).toMatchObject({ exitCode: 0 });
  });

  test("promtool can read every query of the dashboard", async () => {
    const rules = queries.map(({ expr }, index) => ({ record: `query:${index}`, expr: withoutVariables(expr) }));
    const file = JSON.stringify({ groups: [{ name: "dashboard", rules }] }); // which is YAML too
    expect(await promtool(["check", "rules", "/dev/stdin"], file)).toMatchObject({ exitCode: 0 });
  });

  test("promtool finds a query that cannot be read", async () => {
    const file = JSON.stringify({ groups: [{ name: "broken", rules: [{ record: "a:b", expr: "sum by (rank (up)" }] }] });
    expect((await promtool(["check", "rules", "/dev/stdin"], file)).exitCode).not.toBe(0);
  });
});

/** As Grafana does it. */
function withoutVariables(expression: string): string {
  return expression.replaceAll("$__rate_interval", "1m").replaceAll(/\$(warmpath|job)/g, ".*");
}
