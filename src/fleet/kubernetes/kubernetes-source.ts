/**
 * Follows the pods of a namespace and tells the fleet: a list, then a watch from its version, for ever. While the API server is
 * away the fleet stays as it was; nothing is taken away because nothing was heard.
 */

import { setTimeout as delay } from "node:timers/promises";
import { backoffDelayMs, type Logger } from "#base";
import type { FleetRegistrar, FleetSource } from "../registry.ts";
import { clusterAccess } from "./cluster-access.ts";
import { ApiServerError } from "./errors.ts";
import { KUBERNETES_LIMITS, type KubernetesLimits } from "./limits.ts";
import { type PodReading, readPod } from "./pod.ts";
import { PodApi, type PodEvent } from "./pod-api.ts";
import { PodTable } from "./pod-table.ts";

export interface KubernetesSourceOptions {
  /** As for `kubectl get pods -l`; "" is every pod of the namespace. */
  labelSelector: string;
  /** "" is the service account's or the context's own. */
  namespace: string;
  registrar: FleetRegistrar;
  logger: Logger;
  /** Put before the paths of the service account's files. */
  rootDirectory?: string;
  limits?: Partial<KubernetesLimits>;
}

export class KubernetesSource implements FleetSource {
  readonly registry = "kubernetes";
  readonly #selection: { labelSelector: string; namespace: string };
  readonly #logger: Logger;
  readonly #rootDirectory: string;
  readonly #limits: KubernetesLimits;
  readonly #table: PodTable;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  /** Where the next watch begins; null when the pods are to be listed first. */
  #resourceVersion: string | null = null;
  #notReady: string | null = "The pods of the Kubernetes namespace have not been listed yet";
  #link: "new" | "up" | "down" = "new";

  constructor(options: KubernetesSourceOptions) {
    this.#selection = { labelSelector: options.labelSelector, namespace: options.namespace };
    this.#logger = options.logger;
    this.#rootDirectory = options.rootDirectory ?? "";
    this.#limits = { ...KUBERNETES_LIMITS, ...options.limits };
    this.#table = new PodTable(options.registrar);
  }

  get isConnected(): boolean {
    return this.#link === "up";
  }

  start(): void {
    this.#running ??= this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  notReady(): string | null {
    return this.#notReady;
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      try {
        failures = (await this.#round(signal)) ? 0 : failures + 1;
      } catch (thrown) {
        if (signal.aborted) return;
        if (!(thrown instanceof ApiServerError)) throw thrown;
        failures++;
        this.#failed(thrown);
      }
      const delayMs = backoffDelayMs(failures, this.#limits.backoff, Math.random());
      // Rejects when the signal is aborted, and then the loop ends.
      await delay(delayMs, undefined, { signal }).catch(() => {});
    }
  }

  /** One watch to its end, after a list where that is needed. False when it told nothing and ended early. */
  async #round(signal: AbortSignal): Promise<boolean> {
    // Read anew each time: tokens, certificates and kubeconfigs are replaced while Warmpath runs.
    const timeout = AbortSignal.timeout(this.#limits.requestTimeoutMs);
    const access = await clusterAccess(this.#rootDirectory, AbortSignal.any([signal, timeout]));
    const api = new PodApi(access, this.#selection, this.#limits);
    this.#resourceVersion ??= await this.#list(api, signal);
    const events = await api.watch(this.#resourceVersion, signal);
    this.#succeeded(api);
    const openedAtMs = performance.now();
    let hasHeard = false;
    for await (const event of events) {
      if (signal.aborted) break;
      this.#apply(event);
      hasHeard = true;
    }
    return hasHeard || performance.now() - openedAtMs >= this.#limits.backoff.maxMs;
  }

  async #list(api: PodApi, signal: AbortSignal): Promise<string> {
    const readings: PodReading[] = [];
    let version = "";
    for await (const { pods, resourceVersion } of api.list(signal)) {
      for (const pod of pods) readings.push(readPod(pod));
      this.#assertBounded(readings.length);
      version = resourceVersion;
    }
    this.#table.replace(readings);
    this.#notReady = null;
    return version;
  }

  #apply(event: PodEvent): void {
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
        this.#table.update(readPod(event.object));
        this.#assertBounded(this.#table.size);
        break;
      case "DELETED":
        this.#table.delete(event.object.metadata.uid);
        break;
      case "BOOKMARK":
        break;
    }
    this.#resourceVersion = event.object.metadata.resourceVersion;
  }

  #assertBounded(pods: number): void {
    if (pods <= this.#limits.podsMax) return;
    const found = `the label selector ${JSON.stringify(this.#selection.labelSelector)} matches more than ${this.#limits.podsMax}`;
    throw new ApiServerError("refused", `Cannot follow the pods: ${found}, a narrower one is needed`);
  }

  #failed(error: ApiServerError): void {
    if (error.kind !== "away") this.#resourceVersion = null;
    if (this.#notReady !== null) this.#notReady = error.message;
    if (error.kind === "expired") {
      this.#logger.info("Lists Kubernetes pods again", { reason: error.message });
      return;
    }
    if (this.#link === "down") return;
    this.#link = "down";
    this.#logger.warn("Kubernetes pods are not followed; the fleet stays as it is", { reason: error.message });
  }

  #succeeded({ server, namespace }: PodApi): void {
    if (this.#link === "up") return;
    const message = this.#link === "new" ? "Follows Kubernetes pods" : "Follows Kubernetes pods again";
    this.#link = "up";
    this.#logger.info(message, { server, namespace, label_selector: this.#selection.labelSelector });
  }
}
