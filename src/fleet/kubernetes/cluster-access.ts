/**
 * Where the API server is and how it is spoken to, as the environment says: the kubeconfig that KUBECONFIG names, else the
 * service account of the pod that Warmpath runs in, else `~/.kube/config`.
 *
 * The official client reads all of that, with CAs, client certificates, rotated tokens and credential plugins. Its requests do
 * not work on Bun: they go through undici with a dispatcher that carries the TLS options, and Bun's undici ignores both CA and
 * client certificate. So the client says how to connect, and Bun's own fetch connects. The client is imported at first use: it
 * takes 150 ms and 60 MB.
 */

import { accessSync } from "node:fs";
import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import { ApiServerError, messageOf } from "./errors.ts";

export interface ClusterAccess {
  /** Base address, without a slash at its end. */
  server: string;
  /** The context's or the service account's own. */
  namespace: string;
  /** What every request is made with: credentials, TLS options, proxy. */
  request: BunFetchRequestInit;
}

const TOKEN_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** The context that the client makes up when it finds no configuration at all. */
const NO_CONFIGURATION = "loaded-context";

/**
 * Reads the configuration as it is now. `rootDirectory` is put before the service account's files, "" as a rule. Throws an
 * ApiServerError, also when the signal is aborted first: a credential plugin is a program that may hang.
 */
export async function clusterAccess(rootDirectory: string, signal: AbortSignal): Promise<ClusterAccess> {
  try {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    if (isInCluster(rootDirectory)) config.loadFromCluster(rootDirectory);
    else config.loadFromDefault();
    return await Promise.race([accessOf(config), aborted(signal)]);
  } catch (thrown) {
    const message = `Cannot prepare requests to the Kubernetes API server: ${messageOf(thrown)}`;
    throw new ApiServerError("away", message, thrown);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Error("the credentials did not come in time"));
  if (signal.aborted) late();
  signal.addEventListener("abort", late, { once: true });
  return promise;
}

function isInCluster(rootDirectory: string): boolean {
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST } = process.env;
  return (KUBECONFIG ?? "") === "" && (KUBERNETES_SERVICE_HOST ?? "") !== "" && isReadable(rootDirectory + TOKEN_FILE);
}

function isReadable(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

async function accessOf(config: KubeConfig): Promise<ClusterAccess> {
  const context = config.getContextObject(config.getCurrentContext());
  const cluster = config.getCurrentCluster();
  if (config.getCurrentContext() === NO_CONFIGURATION) {
    throw new Error("no configuration was found, a service account or a kubeconfig (KUBECONFIG, ~/.kube/config) is needed");
  }
  if (context === null || cluster === null) {
    const found = `the current context is ${JSON.stringify(config.getCurrentContext() ?? "")}`;
    throw new Error(`${found}, one that the kubeconfig describes with its cluster is needed`);
  }
  const options: RequestOptions & { servername?: string } = {};
  await config.applyToHTTPSOptions(options);
  const tls = definedOf({
    ca: options.ca,
    cert: options.cert,
    key: options.key,
    passphrase: options.passphrase,
    rejectUnauthorized: options.rejectUnauthorized,
    serverName: options.servername,
  }) as Bun.TLSOptions;
  return {
    server: cluster.server,
    namespace: context.namespace?.trim() || "default",
    request: { headers: headersOf(options), tls, ...proxyOf(cluster.proxyUrl) },
  };
}

/** The client sets `auth` for a user with a password, and headers for every other. */
function headersOf({ headers, auth }: RequestOptions): Headers {
  const result = new Headers({ accept: "application/json", "user-agent": "warmpath" });
  for (const [name, value] of Object.entries(headers ?? {})) result.set(name, String(value));
  if (typeof auth === "string") result.set("authorization", `Basic ${Buffer.from(auth).toString("base64")}`);
  return result;
}

function proxyOf(proxyUrl: string | undefined): { proxy?: string } {
  if (proxyUrl === undefined || proxyUrl === "") return {};
  if (/^https?:/.test(proxyUrl)) return { proxy: proxyUrl };
  throw new Error(`proxy-url is ${JSON.stringify(proxyUrl)}, an http or https address is needed`);
}

/** Bun takes a TLS option that is there but undefined for a wrong one. */
function definedOf(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
