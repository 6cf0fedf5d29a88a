import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "#config";
import packageJson from "../../package.json";
import { createFakeApp } from "../http/fake-directory.ts";
import { DOCKER, readText, readYaml } from "./read-yaml.ts";

interface Probe {
  httpGet: { path: string; port: string };
}

interface Kustomization {
  resources: string[];
  images: object[];
}

interface Container {
  image: string;
  env: { name: string; value?: string }[];
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  securityContext: object;
}

interface Deployment {
  spec: {
    selector: { matchLabels: object };
    template: {
      metadata: { labels: object; annotations: Record<string, string> };
      spec: { serviceAccountName: string; enableServiceLinks: boolean; securityContext: object; containers: [Container] };
    };
  };
}

const [deployment] = await readYaml<Deployment>("kubernetes/deployment.yaml");
const { template } = deployment.spec;
const [container] = template.spec.containers;
const dockerfile = await readText("Dockerfile");

describe("The Kubernetes manifests", () => {
  test("are all in the kustomization", async () => {
    const [{ resources, images }] = await readYaml<Kustomization>("kubernetes/kustomization.yaml");
    const files = await Array.fromAsync(new Bun.Glob("*.yaml").scan(join(DOCKER, "kubernetes")));
    expect(resources.toSorted()).toEqual(files.filter((name) => name !== "kustomization.yaml").toSorted());
    for (const name of resources) expect(existsSync(join(DOCKER, "kubernetes", name))).toBe(true);
    expect(images).toEqual([{ name: container.image, newTag: packageJson.version }]);
  });

  test("give Warmpath settings that it takes, and pods to look for", async () => {
    const environment = container.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]));
    const config = await loadConfig([], Object.fromEntries(environment));
    expect(config).toMatchObject({ kubernetesLabelSelector: "app=vllm" });
    // A service called warmpath would otherwise put settings that nobody wrote into the environment, WARMPATH_PORT for one.
    expect(template.spec.enableServiceLinks).toBe(false);
  });

  test("ask at the port that Warmpath listens on, for life and for readiness", async () => {
    const config = await loadConfig([], {});
    if (config === "help") throw new Error("Cannot be: nobody asked for help");
    expect(container.ports).toEqual([{ name: "http", containerPort: config.httpServerPort }]);
    expect(dockerfile).toContain(`\nEXPOSE ${config.httpServerPort}\n`);
    expect(template.metadata.annotations["prometheus.io/port"]).toBe(String(config.httpServerPort));

    const { send } = createFakeApp({ notRouting: ["starting"] });
    const status = async ({ httpGet }: Probe) => (await send("GET", httpGet.path)).status;
    expect(await status(container.startupProbe)).toBe(200);
    expect(await status(container.livenessProbe)).toBe(200);
    expect(await status(container.readinessProbe)).toBe(503);
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect(probe.httpGet.port).toBe("http");
    }
  });

  test("run Warmpath as the image's user, who may do nothing", () => {
    expect(dockerfile).toContain("\nUSER 65532:65532\n");
    expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("let Warmpath list and watch pods, and nothing else", async () => {
    const [role, binding] = await readYaml<object>("kubernetes/role.yaml");
    const [account] = await readYaml<{ metadata: { name: string } }>("kubernetes/service-account.yaml");
    expect(role).toMatchObject({ kind: "Role", rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] }] });
    expect(binding).toMatchObject({ subjects: [{ kind: "ServiceAccount", name: account.metadata.name }] });
    expect(template.spec.serviceAccountName).toBe(account.metadata.name);
  });

  test("select the pods that the deployment makes", async () => {
    const [service] = await readYaml<{ spec: { selector: object; ports: object[] } }>("kubernetes/service.yaml");
    const [budget] = await readYaml<{ spec: { selector: object } }>("kubernetes/pod-disruption-budget.yaml");
    const { labels } = template.metadata;
    expect(deployment.spec.selector).toEqual({ matchLabels: labels });
    expect(service.spec.selector).toEqual(labels);
    expect(service.spec.ports).toMatchObject([{ targetPort: "http" }]);
    expect(budget.spec.selector).toEqual({ matchLabels: labels });
  });
});
