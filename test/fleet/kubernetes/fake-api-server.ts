/**
 * The part of a Kubernetes API server that lists and watches pods: versions, pages with continue tokens, label selectors of the
 * form `key=value`, bookmarks, expired versions, Status documents. It is built on node:http because Bun.serve keeps the head of
 * an answer back until there is a body, which an API server does not, and because connections can be cut.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Pod } from "../../../src/fleet/kubernetes/api-objects.ts";

export interface ReceivedRequest {
  verb: "list" | "watch";
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
}

export interface FakeTls {
  cert: string;
  key: string;
  /** When there is one, clients must show a certificate that it signed. */
  ca?: string;
}

interface Change {
  version: number;
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: Pod;
}

const REASONS: Record<number, string> = { 401: "Unauthorized", 403: "Forbidden", 410: "Expired", 429: "TooManyRequests" };

export class FakeApiServer {
  readonly requests: ReceivedRequest[] = [];
  /** Statuses that the next requests are refused with; null answers one as it deserves. */
  readonly refusals: (number | null)[] = [];
  /** The bearer token that requests must carry; null: none. */
  token: string | null = null;
  readonly #server;
  readonly #isTls: boolean;
  #version = 1000;
  /** By name; the versions in it are those of the last change. */
  readonly #pods = new Map<string, Pod>();
  #changes: Change[] = [];
  /** Changes up to this version are forgotten. */
  #compactedVersion = 0;
  readonly #watches = new Map<ServerResponse, string | null>();
  /** The whole list as it was when its first page was given, by continue token. */
  readonly #pages = new Map<string, { version: number; pods: Pod[] }>();

  private constructor(tls: FakeTls | null) {
    this.#isTls = tls !== null;
    const answer = (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response);
    this.#server = tls === null ? createServer(answer) : createTlsServer({ ...tls, requestCert: tls.ca !== undefined }, answer);
  }

  static async start(tls: FakeTls | null = null): Promise<FakeApiServer> {
    const server = new FakeApiServer(tls);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#isTls ? "https" : "http"}://127.0.0.1:${this.port}`;
  }

  get watchCount(): number {
    return this.#watches.size;
  }

  countOf(verb: ReceivedRequest["verb"]): number {
    return this.requests.filter((request) => request.verb === verb).length;
  }

  /** Creates the pod or replaces the one of its name. */
  put(pod: Pod): void {
    this.#change(this.#pods.has(pod.metadata.name) ? "MODIFIED" : "ADDED", pod);
  }

  delete(name: string): void {
    const pod = this.#pods.get(name);
    if (pod === undefined) throw new Error(`No pod ${name}`);
    this.#change("DELETED", pod);
  }

  bookmark(): void {
    const metadata = { resourceVersion: String(this.#version), creationTimestamp: null };
    const object = { kind: "Pod", apiVersion: "v1", metadata, spec: { containers: null }, status: {} };
    this.send(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
  }

  /** To every watch, as it is. */
  send(text: string): void {
    for (const response of this.#watches.keys()) response.write(text);
  }

  /** Forgets the changes up to now, and that the version moved on. Open watches are told so and end. */
  expire(): void {
    this.#compactedVersion = ++this.#version;
    this.#changes = [];
    this.#pages.clear();
    this.send(`${JSON.stringify({ type: "ERROR", object: statusOf(410) })}\n`);
    this.end();
  }

  /** As when timeoutSeconds have passed. */
  end(): void {
    for (const response of this.#watches.keys()) response.end();
    this.#watches.clear();
  }

  /** Connections of watches break. */
  cut(): void {
    for (const response of this.#watches.keys()) response.socket?.destroy();
    this.#watches.clear();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #change(type: Change["type"], pod: Pod): void {
    const version = ++this.#version;
    const object = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(version) } };
    if (type === "DELETED") this.#pods.delete(pod.metadata.name);
    else this.#pods.set(pod.metadata.name, object);
    const change = { version, type, object };
    this.#changes.push(change);
    for (const [response, selector] of this.#watches) {
      if (isSelected(object, selector)) response.write(lineOf(change));
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "", this.url);
    const verb = searchParams.get("watch") === "true" ? "watch" : "list";
    const { authorization } = request.headers;
    this.requests.push({ verb, path: pathname, query: searchParams, authorization });
    const refusal = this.refusals.shift() ?? this.#refusalOf(verb, searchParams, authorization);
    if (refusal !== null) {
      response.writeHead(refusal, { "content-type": "application/json" }).end(JSON.stringify(statusOf(refusal)));
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    if (verb === "list") response.end(JSON.stringify(this.#list(searchParams)));
    else this.#watch(searchParams, response);
  }

  #refusalOf(verb: ReceivedRequest["verb"], query: URLSearchParams, authorization: string | undefined): number | null {
    if (this.token !== null && authorization !== `Bearer ${this.token}`) return 401;
    if (verb === "watch") return Number(query.get("resourceVersion")) < this.#compactedVersion ? 410 : null;
    const continueToken = query.get("continue");
    return continueToken !== null && !this.#pages.has(continueToken.split("/")[0] ?? "") ? 410 : null;
  }

  #list(query: URLSearchParams): object {
    const [id = String(this.#version), start = "0"] = query.get("continue")?.split("/") ?? [];
    const selector = query.get("labelSelector");
    const whole = this.#pages.get(id) ?? {
      version: this.#version,
      pods: [...this.#pods.values()].filter((pod) => isSelected(pod, selector)),
    };
    this.#pages.set(id, whole);
    const end = Number(start) + Number(query.get("limit"));
    const rest = whole.pods.length - end;
    const more = rest > 0 ? { continue: `${id}/${end}`, remainingItemCount: rest } : {};
    const metadata = { resourceVersion: String(whole.version), ...more };
    return { kind: "PodList", apiVersion: "v1", metadata, items: whole.pods.slice(Number(start), end) };
  }

  #watch(query: URLSearchParams, response: ServerResponse): void {
    const selector = query.get("labelSelector");
    response.flushHeaders();
    this.#watches.set(response, selector);
    response.on("close", () => this.#watches.delete(response));
    const missed = this.#changes.filter(({ version }) => version > Number(query.get("resourceVersion")));
    for (const change of missed) if (isSelected(change.object, selector)) response.write(lineOf(change));
  }
}

function isSelected(pod: Pod, selector: string | null): boolean {
  if (selector === null) return true;
  const [key = "", value] = selector.split("=");
  return (pod.metadata as { labels?: Record<string, string> }).labels?.[key] === value;
}

function lineOf({ type, object }: Change): string {
  return `${JSON.stringify({ type, object: { kind: "Pod", apiVersion: "v1", ...object } })}\n`;
}

function statusOf(code: number): object {
  const reason = REASONS[code] ?? "InternalError";
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: `status ${code}`, reason, code };
}
