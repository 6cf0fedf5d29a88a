import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { clusterAccess } from "../../../src/fleet/kubernetes/cluster-access.ts";
import { KubernetesSource } from "../../../src/fleet/kubernetes/kubernetes-source.ts";
import { KUBERNETES_LIMITS } from "../../../src/fleet/kubernetes/limits.ts";
import { PodApi } from "../../../src/fleet/kubernetes/pod-api.ts";
import { type Certificates, createCertificates } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { QUIET } from "../../support/quiet-logger.ts";
import { Environment } from "./environment.ts";
import { FakeApiServer } from "./fake-api-server.ts";
import { podWith } from "./pods.ts";
import { RecordingRegistrar } from "./recording-registrar.ts";

const NEVER = new AbortController().signal;

let certificates: Certificates;
let environment: Environment;
let server: FakeApiServer;

beforeAll(() => {
  certificates = createCertificates();
});

beforeEach(() => {
  environment = new Environment();
});

afterEach(async () => {
  await server?.stop();
  environment.restore();
});

function access() {
  return clusterAccess(environment.directory, NEVER);
}

/** Lists once and reads the first event of a watch; resolves to the pods' names, rejects when either does not work. */
async function listAndWatch(): Promise<string[]> {
  const api = new PodApi(await access(), { labelSelector: "", namespace: "" }, KUBERNETES_LIMITS);
  const names: string[] = [];
  let version = "";
  for await (const { pods, resourceVersion } of api.list(NEVER)) {
    names.push(...pods.map(({ metadata }) => metadata.name));
    version = resourceVersion;
  }
  const events = await api.watch(version, NEVER);
  server.put(podWith({ name: "watched" }));
  for await (const { type, object } of events) {
    if (type === "ADDED") names.push(object.metadata.name);
    break;
  }
  return names;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("A kubeconfig over TLS", () => {
  const cluster = () => ({ server: server.url, "certificate-authority-data": base64(certificates.ca) });
  const user = () => ({
    token: "sesame",
    "client-certificate-data": base64(certificates.client.cert),
    "client-key-data": base64(certificates.client.key),
  });

  beforeEach(async () => {
    server = await FakeApiServer.start({ ...certificates.server, ca: certificates.ca });
    server.token = "sesame";
    server.put(podWith({ name: "listed" }));
  });

  test("lists and watches with CA, client certificate and token", async () => {
    environment.writeKubeconfig(cluster(), user());
    expect(await listAndWatch()).toEqual(["listed", "watched"]);
  });

  test("may name files beside it", async () => {
    environment.write("ca.crt", certificates.ca);
    environment.write("client.crt", certificates.client.cert);
    environment.write("client.key", certificates.client.key);
    environment.writeKubeconfig(
      { server: server.url, "certificate-authority": "ca.crt" },
      { token: "sesame", "client-certificate": "client.crt", "client-key": "client.key" },
    );
    expect(await listAndWatch()).toEqual(["listed", "watched"]);
  });

  test("does not trust a server whose CA it does not name", async () => {
    environment.writeKubeconfig({ server: server.url }, user());
    await expect(listAndWatch()).rejects.toThrow("self signed certificate in certificate chain");
  });

  test("checks nothing when it says so", async () => {
    environment.writeKubeconfig({ server: server.url, "insecure-skip-tls-verify": true }, user());
    expect(await listAndWatch()).toEqual(["listed", "watched"]);
  });

  test("checks the server's certificate against the name that it gives", async () => {
    environment.writeKubeconfig({ ...cluster(), "tls-server-name": "api.test" }, user());
    expect(await listAndWatch()).toEqual(["listed", "watched"]);
    environment.writeKubeconfig({ ...cluster(), "tls-server-name": "other.test" }, user());
    await expect(listAndWatch()).rejects.toThrow("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  test("gets nowhere without the client certificate", async () => {
    environment.writeKubeconfig(cluster(), { token: "sesame" });
    await expect(listAndWatch()).rejects.toThrow("Cannot list pods in namespace");
    expect(server.requests).toEqual([]);
  });

  test("is refused with a wrong token", async () => {
    environment.writeKubeconfig(cluster(), { ...user(), token: "mellon" });
    await expect(listAndWatch()).rejects.toThrow("answered 401 Unauthorized");
  });
});

describe("A service account", () => {
  beforeEach(async () => {
    server = await FakeApiServer.start(certificates.server);
    process.env.KUBERNETES_SERVICE_HOST = "127.0.0.1";
    process.env.KUBERNETES_SERVICE_PORT = String(server.port);
    environment.writeServiceAccount({ token: "first\n", "ca.crt": certificates.ca, namespace: "engines\n" });
  });

  test("gives server, namespace, CA and token", async () => {
    const { server: url, namespace, request } = await access();
    expect([url, namespace]).toEqual([server.url, "engines"]);
    expect(new Headers(request.headers as Headers).get("authorization")).toBe("Bearer first");
    expect(String((request.tls as { ca: Buffer }).ca)).toBe(certificates.ca);
  });

  test("is read anew for each use, so that a rotated token counts at once", async () => {
    await access();
    environment.writeServiceAccount({ token: "second", "ca.crt": certificates.ca, namespace: "engines" });
    expect(new Headers((await access()).request.headers as Headers).get("authorization")).toBe("Bearer second");
  });

  test("follows pods with CA and token, and with the next token when the first is taken back", async () => {
    server.token = "first";
    const registrar = new RecordingRegistrar();
    const limits = { backoff: { firstMs: 5, maxMs: 20 } };
    const rootDirectory = environment.directory;
    const source = new KubernetesSource({ labelSelector: "", namespace: "", registrar, logger: QUIET, rootDirectory, limits });
    source.start();
    await eventually("a watch", () => server.watchCount === 1);
    server.token = "second";
    server.cut();
    await eventually("a refusal", () => server.requests.length > 3);
    environment.writeServiceAccount({ token: "second", "ca.crt": certificates.ca, namespace: "engines" });
    await eventually("another watch", () => server.watchCount === 1);
    server.put(podWith());
    await eventually("the pod", () => registrar.calls.includes("put 10.0.0.5:8000 uid-a"));
    await source.stop();
    expect(server.requests.map(({ path }) => path)).toContain("/api/v1/namespaces/engines/pods");
  });

  test("has an IPv6 server in brackets", async () => {
    process.env.KUBERNETES_SERVICE_HOST = "fd00::1";
    process.env.KUBERNETES_SERVICE_PORT = "443";
    expect((await access()).server).toBe("https://[fd00::1]:443");
  });

  test("comes after a kubeconfig that is named, and before the one at home", async () => {
    environment.writeKubeconfig({ server: "https://named.test/" });
    expect((await access()).server).toBe("https://named.test");
    delete process.env.KUBECONFIG;
    environment.write(".kube/config", await Bun.file(`${environment.directory}/kubeconfig`).text());
    expect((await access()).server).toBe(server.url);
    delete process.env.KUBERNETES_SERVICE_HOST;
    expect((await access()).server).toBe("https://named.test");
  });
});

describe("Cluster access", () => {
  test("carries user and password, and the proxy", async () => {
    environment.writeKubeconfig(
      { server: "https://api.test", "proxy-url": "http://proxy.test:3128" },
      { username: "root", password: "toor" },
      "",
    );
    const { request, namespace } = await access();
    expect(new Headers(request.headers as Headers).get("authorization")).toBe(`Basic ${base64("root:toor")}`);
    expect([request.proxy, namespace]).toEqual(["http://proxy.test:3128", "default"]);
  });

  test("runs the credential plugin that a user names", async () => {
    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "minted" } };
    const exec = { apiVersion: credential.apiVersion, command: "echo", args: [JSON.stringify(credential)] };
    environment.writeKubeconfig({ server: "https://api.test" }, { exec });
    expect(new Headers((await access()).request.headers as Headers).get("authorization")).toBe("Bearer minted");
  });

  test("does not wait for a credential plugin longer than it may", async () => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "sleep", args: ["2"] };
    environment.writeKubeconfig({ server: "https://api.test" }, { exec });
    await expect(clusterAccess("", AbortSignal.timeout(20))).rejects.toThrow("the credentials did not come in time");
  });

  test.each<[string, () => unknown, string]>([
    ["without any configuration", () => {}, "no configuration was found"],
    ["without the file that is named", () => Object.assign(process.env, { KUBECONFIG: "/nowhere/config" }), "ENOENT"],
    ["without the context that is current", () => writeContext("other"), 'the current context is "other"'],
    ["with plain http", () => environment.writeKubeconfig({ server: "http://api.test" }), "HTTP protocol is not allowed"],
    [
      "with a SOCKS proxy",
      () => environment.writeKubeconfig({ server: "https://api.test", "proxy-url": "socks5://proxy.test" }),
      'proxy-url is "socks5://proxy.test", an http or https address is needed',
    ],
  ])("is refused %s", async (_case, arrange, reason) => {
    arrange();
    await expect(access()).rejects.toThrow(reason);
  });
});

function writeContext(current: string): void {
  process.env.KUBECONFIG = environment.write(
    "kubeconfig",
    JSON.stringify({ clusters: [], contexts: [], users: [], "current-context": current }),
  );
}
