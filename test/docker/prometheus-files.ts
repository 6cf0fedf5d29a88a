/** The files for Prometheus and Grafana in `docker/`, and promtool, which checks some of them. */

import { join } from "node:path";

export const DOCKER = join(import.meta.dir, "../../docker");

interface Dashboard {
  panels: {
    id: number;
    title: string;
    gridPos: { x: number; y: number; w: number; h: number };
    targets?: { expr: string; legendFormat: string; datasource: { uid: string } }[];
  }[];
  annotations: { list: { name: string; expr: string; titleFormat: string; datasource: { uid: string } }[] };
}

interface Alert {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

interface DashboardQuery {
  title: string;
  expr: string;
  legend: string;
  datasource: { uid: string };
}

export function readDashboard(): Promise<Dashboard> {
  return Bun.file(join(DOCKER, "grafana/dashboards/warmpath.json")).json();
}

/** Of the panels and of the annotations. */
export function dashboardQueries({ panels, annotations }: Dashboard): DashboardQuery[] {
  const ofPanels = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat: legend, datasource }) => ({ title, expr, legend, datasource })),
  );
  const ofAnnotations = annotations.list.map(({ name: title, expr, titleFormat: legend, datasource }) => ({
    title,
    expr,
    legend,
    datasource,
  }));
  return [...ofPanels, ...ofAnnotations];
}

export async function readAlerts(): Promise<Alert[]> {
  const file = Bun.YAML.parse(await Bun.file(join(DOCKER, "prometheus/alerts.yml")).text()) as { groups: { rules: Alert[] }[] };
  return file.groups.flatMap(({ rules }) => rules);
}

const PROMTOOL = Bun.which("promtool");

export const isPromtoolThere = PROMTOOL !== null;

/** Runs promtool; what it says is in `output`, for the one who reads the failure. */
export async function promtool(command: string[], input = ""): Promise<{ exitCode: number; output: string }> {
  if (PROMTOOL === null) throw new Error("Cannot check: promtool is not installed, Debian's package prometheus has it");
  const child = Bun.spawn([PROMTOOL, ...command], { stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" });
  const [exitCode, out, err] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { exitCode, output: out + err };
}
