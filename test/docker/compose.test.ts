import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "#config";
import { parseEngineOptions } from "../../scripts/engine/engine-options.ts";
import { DOCKER, readText, readYaml } from "./read-yaml.ts";

interface ComposeService {
  build?: { context: string; dockerfile: string; target?: string };
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  read_only: boolean;
  cap_drop: string[];
  security_opt: string[];
}

const [{ services, volumes }] = await readYaml<{ services: Record<string, ComposeService>; volumes: object }>("compose.yaml");
const all = Object.entries(services);

/** `host path`, `path in the container` of every file and folder of docker/ that a service sees. */
function mounts({ volumes: mounted = [] }: ComposeService): { source: string; target: string }[] {
  return mounted.map((text) => {
    const [source, target] = text.split(":");
    return { source: source.startsWith("./") ? join(DOCKER, source) : source, target };
  });
}

/** The file of docker/ that the service sees under this path. */
function mountedFile(service: ComposeService, path: string): string {
  const mount = mounts(service).find(({ target }) => path === target || path.startsWith(`${target}/`));
  return mount === undefined ? path : mount.source + path.slice(mount.target.length);
}

function warmpathConfig() {
  const { warmpath } = services;
  const environment = Object.entries(warmpath.environment ?? {}).map(([name, text]) => [name, mountedFile(warmpath, text)]);
  return loadConfig([], Object.fromEntries(environment));
}

describe("The compose file", () => {
  test("gives Warmpath settings that it takes, and events to listen to", async () => {
    const config = await warmpathConfig();
    if (config === "help") throw new Error("Cannot be: nobody asked for help");
    expect(config.etcdAddresses).toEqual(["http://etcd:2379"]);
    expect(config.kvEvents.discovery.enabled).toBe(true);
  });

  test.each(all.filter(([, { command = [] }]) => command[0] === "scripts/engine.ts"))(
    "starts %s where Warmpath's discovery looks for it",
    async (service, { command = [] }) => {
      const options = parseEngineOptions(command.slice(1));
      const config = await warmpathConfig();
      if (config === "help") throw new Error("Cannot be: nobody asked for help");
      const { blockSize, topic, eventPortOffset, replayPortOffset } = config.kvEvents.discovery;
      expect(options).toMatchObject({ host: service, bind: "0.0.0.0", blockSize, topic, etcdAddress: "etcd:2379" });
      expect(options.eventPort).toBe(options.httpPort + eventPortOffset);
      expect(options.replayPort).toBe(options.httpPort + replayPortOffset);
      expect(options.warmpathUrl).toBe(`http://warmpath:${config.httpServerPort}`);
    },
  );

  test("has two simulated engines", () => {
    expect(all.filter(([, { command = [] }]) => command[0] === "scripts/engine.ts")).toHaveLength(2);
  });

  test.each(all)("has all that %s is built from and sees", async (_, service) => {
    const missing = mounts(service).filter(({ source }) => !existsSync(source) && !Object.hasOwn(volumes, source));
    expect(missing).toEqual([]);
    if (service.build === undefined) return;
    const { context, dockerfile, target } = service.build;
    const text = await Bun.file(join(DOCKER, context, dockerfile)).text();
    if (target !== undefined) expect(text).toContain(` AS ${target}\n`);
  });

  test.each(all)("gives %s no rights, nothing to write to but its data, and no port beyond this machine", (_, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    for (const port of service.ports ?? []) expect(port).toStartWith("127.0.0.1:");
  });

  test("lets Prometheus scrape Warmpath and heed the alert rules, and Grafana begin with the dashboard", async () => {
    const [prometheus] = await readYaml<{ rule_files: string[]; scrape_configs: object[] }>("prometheus/prometheus.yml");
    expect(prometheus.scrape_configs).toMatchObject([{ static_configs: [{ targets: ["warmpath:8888"] }] }]);
    for (const file of prometheus.rule_files) expect(existsSync(join(DOCKER, "prometheus", file))).toBe(true);
    const home = services.grafana.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH ?? "";
    expect(existsSync(mountedFile(services.grafana, home))).toBe(true);
    const [sources] = await readYaml<{ datasources: object[] }>("grafana/provisioning/datasources/prometheus.yml");
    expect(sources.datasources).toMatchObject([{ type: "prometheus", url: "http://prometheus:9090" }]);
  });

  test("names no registry, and every image of others by a version", async () => {
    const images = all.filter(([, { build }]) => build === undefined).map(([, { image }]) => image);
    for (const image of images) expect(image).toMatch(/^[a-z]+\/[a-z]+:v?\d+\.\d+\.\d+$/);
    const stages = `${await readText("Dockerfile")}${await readText("etcd.Dockerfile")}`.matchAll(/^FROM (\S+)/gm);
    for (const [, image] of stages) expect(image).toMatch(/^(scratch|[a-z]+|[a-z-]+(\/[a-z-]+)?:[\w.-]+)$/);
  });
});
