/** The two requests that are made of the API server: the pods of a namespace, page by page, and what becomes of them since. */

import type { Static } from "@sinclair/typebox";
import { readJson, readJsonLines } from "./answer-body.ts";
import { checked, type Pod, PodList, readWatchEvent, Status, type WatchEvent } from "./api-objects.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { ApiServerError, messageOf } from "./errors.ts";
import { type KubernetesLimits, LINE_BYTES_MAX, PAGE_BYTES_MAX } from "./limits.ts";

/** A Status document says in a few words why. */
const STATUS_BYTES_MAX = 64 * 1024;

/** The version that was asked for is no longer kept. */
const GONE = 410;
const TOO_MANY_REQUESTS = 429;

/** An ERROR is thrown. */
export type PodEvent = Exclude<WatchEvent, { type: "ERROR" }>;

type Verb = "list" | "watch";

export class PodApi {
  readonly #access: ClusterAccess;
  readonly #labelSelector: string;
  readonly #limits: KubernetesLimits;
  readonly namespace: string;

  /** `namespace` "" is the one that the access names. */
  constructor(access: ClusterAccess, selection: { labelSelector: string; namespace: string }, limits: KubernetesLimits) {
    this.#access = access;
    this.#labelSelector = selection.labelSelector;
    this.#limits = limits;
    this.namespace = selection.namespace === "" ? access.namespace : selection.namespace;
  }

  get server(): string {
    return this.#access.server;
  }

  /** All pods at one version, a page at a time. Throws an ApiServerError. */
  async *list(signal: AbortSignal): AsyncGenerator<{ pods: readonly Pod[]; resourceVersion: string }> {
    let continueToken = "";
    do {
      const page = await this.#page(continueToken, signal);
      yield { pods: page.items ?? [], resourceVersion: page.metadata.resourceVersion };
      continueToken = page.metadata.continue ?? "";
    } while (continueToken !== "");
  }

  /**
   * What happened since the version, for as long as the connection lasts; it is given up when it falls silent. Throws an
   * ApiServerError here when there is no watch to be had, and while it is read when a line cannot be understood.
   */
  async watch(resourceVersion: string, signal: AbortSignal): Promise<AsyncGenerator<PodEvent>> {
    const silence = new AbortController();
    const abort = () => silence.abort(new Error("no answer in time"));
    const timer = setTimeout(abort, this.#limits.requestTimeoutMs);
    try {
      const parameters = {
        watch: "true",
        allowWatchBookmarks: "true",
        resourceVersion,
        timeoutSeconds: String(this.#limits.watchSeconds),
      };
      const body = await this.#get("watch", parameters, AbortSignal.any([signal, silence.signal]));
      return this.#events(body, abort);
    } finally {
      clearTimeout(timer);
    }
  }

  async *#events(body: ReadableStream<Uint8Array>, abort: () => void): AsyncGenerator<PodEvent> {
    const timer = setTimeout(abort, this.#limits.silenceMs);
    try {
      for await (const line of readJsonLines(body, LINE_BYTES_MAX, () => timer.refresh())) {
        const event = readWatchEvent(line);
        if (event.type === "ERROR") throw this.#refused("watch", event.object.code ?? GONE, event.object);
        yield event;
      }
    } finally {
      clearTimeout(timer);
      abort();
    }
  }

  async #page(continueToken: string, signal: AbortSignal): Promise<Static<typeof PodList>> {
    const timeout = AbortSignal.timeout(this.#limits.requestTimeoutMs);
    const parameters = { limit: String(this.#limits.pagePods), ...(continueToken === "" ? {} : { continue: continueToken }) };
    const body = await this.#get("list", parameters, AbortSignal.any([signal, timeout]));
    return checked(PodList, await readJson(body, PAGE_BYTES_MAX, "a list of pods"), "a list of pods");
  }

  async #get(verb: Verb, parameters: Record<string, string>, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const query = new URLSearchParams(parameters);
    if (this.#labelSelector !== "") query.set("labelSelector", this.#labelSelector);
    const url = `${this.#access.server}/api/v1/namespaces/${encodeURIComponent(this.namespace)}/pods?${query}`;
    let response: Response;
    try {
      response = await fetch(url, { ...this.#access.request, redirect: "manual", signal });
    } catch (thrown) {
      const message = `${this.#cannot(verb)}: ${messageOf(thrown)}`;
      throw new ApiServerError("away", message, thrown);
    }
    if (response.status === 200 && response.body !== null) return response.body;
    throw this.#refused(verb, response.status, await statusOf(response));
  }

  #refused(verb: Verb, code: number, status: Status): ApiServerError {
    const found = [String(code), status.reason, status.message].filter((part) => part !== undefined && part !== "").join(" ");
    const message = `${this.#cannot(verb)}: the API server answered ${found}${this.#needed(code)}`;
    if (code === GONE) return new ApiServerError("expired", message);
    return new ApiServerError(code === TOO_MANY_REQUESTS ? "away" : "refused", message);
  }

  #cannot(verb: Verb): string {
    return `Cannot ${verb} pods in namespace ${JSON.stringify(this.namespace)} of ${this.server}`;
  }

  #needed(code: number): string {
    const rule = `list and watch on pods in namespace ${JSON.stringify(this.namespace)}`;
    if (code === 401) return `, a token or client certificate that it knows, with the right to ${rule}, is needed`;
    return code === 403 ? `, a role with the right to ${rule} is needed` : "";
  }
}

/** The Status document of a refusal; proxies on the way answer with other things. */
async function statusOf(response: Response): Promise<Status> {
  if (response.body === null) return {};
  try {
    return checked(Status, await readJson(response.body, STATUS_BYTES_MAX, "a status"), "a status");
  } catch (thrown) {
    if (thrown instanceof ApiServerError) return { reason: response.statusText };
    throw thrown;
  }
}
