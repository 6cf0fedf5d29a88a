/** An index that holds a prompt corpus, and a fleet in which each of its streams is the one of an instance with a load. */

import { assert, systemClock } from "#base";
import { type Config, loadConfig } from "#config";
import { type OpenFleet, openFleet } from "#fleet";
import { type Placement, Router } from "#routing";
import { registrationOf } from "../support/instances.ts";
import { QUIET } from "../support/quiet-logger.ts";
import { Checksum } from "./checksum.ts";
import { CorpusIndex } from "./corpus-index.ts";
import { describeStream } from "./corpus-writer.ts";
import { PromptCorpus, type PromptCorpusOptions } from "./prompt-corpus.ts";

/** Reported once, before anything is measured. */
const LOAD_REPORT_MAX_AGE_MS = 3_600_000;

/** Queues differ from instance to instance, and are so short that a whole prompt outweighs them. */
const WAITING_MAX = 6;

/** Prompts whose decisions make a checksum. */
const CHECKED_PROMPTS = 16;

export class RoutedFleet {
  readonly index: CorpusIndex;
  readonly #parts: OpenFleet;

  private constructor(index: CorpusIndex, parts: OpenFleet) {
    this.index = index;
    this.#parts = parts;
  }

  static async create(options: PromptCorpusOptions): Promise<RoutedFleet> {
    const index = await CorpusIndex.create(new PromptCorpus(options));
    const routed = new RoutedFleet(index, openQuietFleet(await configure([])));
    for (let id = 0; id < options.streams; id++) routed.#join(id);
    return routed;
  }

  /** A router that knows of no request yet; `flags` are Warmpath's. */
  async router(flags: readonly string[]): Promise<Router> {
    const config = await configure(flags);
    return new Router({
      policy: config.loadBalancePolicy,
      prefillLambda: config.carPrefillLambda,
      hostHitWeight: config.carHostHitWeight,
      diskHitWeight: config.carDiskHitWeight,
      trackInFlight: config.trackInflight,
      predictionWindowMs: config.predictResidencyMs,
      targetTtftMs: config.targetTtft,
      targetTpotMs: config.targetTpot,
      directory: this.index.directory,
      fleet: this.#parts.fleet,
      clock: systemClock,
    });
  }

  /** Digest of where a router that knows of no request yet sends the first prompts; each candidate must be said to hold its share. */
  checkDecisions(router: Router): string {
    const { corpus, directory } = this.index;
    const checksum = new Checksum();
    for (let prompt = 0; prompt < CHECKED_PROMPTS; prompt++) {
      corpus.writeTokens(prompt, directory.tokens);
      const decision = router.route({ requestId: `check ${prompt}`, tokenCount: corpus.promptTokens, namespace: null });
      assert(decision !== "busy" && decision.kind === "placed", "every prompt is placed");
      this.#checkHits(prompt, decision);
      checksum.add(decision.candidates.indexOf(decision.prefill));
    }
    return checksum.toString();
  }

  #checkHits(prompt: number, { candidates }: Placement): void {
    const { corpus } = this.index;
    for (const { stream, blocks } of corpus.holdings(prompt)) {
      const { instanceName } = describeStream(stream, corpus.blockSize);
      const hits = candidates.find(({ instance }) => instance.registration.name === instanceName)?.hits;
      const tokens = (hits?.deviceTokens ?? 0) + (hits?.hostOnlyTokens ?? 0);
      assert(tokens === blocks * corpus.blockSize, `${instanceName} holds ${blocks} blocks of prompt ${prompt}`);
    }
  }

  /** The instance whose stream it is. */
  #join(id: number): void {
    const { instanceName: name, blockSize, hashSeed, incarnation } = describeStream(id, this.index.corpus.blockSize);
    const { registrations } = this.#parts;
    registrations.register(registrationOf(name, { incarnation, blockSize, hashSeed }), null);
    registrations.heartbeat({
      name,
      incarnation,
      load: { waitingRequests: id % (WAITING_MAX + 1), cacheUsage: 0.5 },
      latency: null,
    });
  }
}

/** Its loop is never started, and nobody subscribes to anything: the index has its streams already. */
function openQuietFleet(config: Config): OpenFleet {
  const { refreshIntervalMs, enabled, ...discovery } = config.kvEvents.discovery;
  return openFleet({
    clock: systemClock,
    logger: QUIET,
    limits: { ...config, loadReportMaxAgeMs: LOAD_REPORT_MAX_AGE_MS },
    probe: { timeoutMs: 1, attempts: 1 },
    etcd: null,
    kubernetes: null,
    scrapeIntervalMs: 0,
    refreshIntervalMs,
    rules: { ...discovery, isDiscoveryEnabled: enabled, maxStreams: config.kvEvents.maxStreams, staticStreams: [] },
    streams: { addStream: () => null, removeStream: () => {} },
  });
}

async function configure(flags: readonly string[]): Promise<Config> {
  const config = await loadConfig([...flags], {});
  assert(config !== "help", "no help was asked for");
  return config;
}
