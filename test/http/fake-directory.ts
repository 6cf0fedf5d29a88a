/** A directory that remembers what it was asked, and an app around it that tests talk to without a socket. */

import type { LogFields } from "#base";
import { type Namespace, type StreamMatch, type StreamReport, TOKENS_MAX } from "#domain";
import { type AppDependencies, createApp, type KvDirectory } from "#http";

/** One buffer for all tests: the app asks for the full length, and no test keeps tokens in it. */
const tokens = new Uint32Array(TOKENS_MAX);

class FakeDirectory implements KvDirectory {
  readonly tokens = tokens;
  readonly bytesInUse = 65_536;
  answer: StreamMatch[] | "busy" | Error = [];
  /** The prompts asked for, with the filter and the namespace of each. */
  readonly asked: { tokens: number[]; instanceNames: string[] | null; namespace: Namespace | null }[] = [];

  match(tokenCount: number, instanceNames: ReadonlySet<string> | null, namespace: Namespace | null): StreamMatch[] | "busy" {
    const prompt = [...tokens.subarray(0, tokenCount)];
    this.asked.push({ tokens: prompt, instanceNames: instanceNames && [...instanceNames], namespace });
    if (this.answer instanceof Error) throw this.answer;
    return this.answer;
  }
}

interface LoggedError {
  message: string;
  fields: LogFields | undefined;
}

/** The app with a fake directory; `post` sends a query body. */
export function createFakeApp(options: { internalApiToken?: string; notReady?: string[] } = {}) {
  const directory = new FakeDirectory();
  const logged: LoggedError[] = [];
  const reports: StreamReport[] = [];
  const dependencies: AppDependencies = {
    directory,
    readiness: { notReady: () => options.notReady ?? null },
    reports: async () => reports,
    logger: { info() {}, warn() {}, error: (message, fields) => logged.push({ message, fields }) },
    internalApiToken: options.internalApiToken ?? "",
  };
  const app = createApp(dependencies);
  const post = (
    body: Uint8Array | string,
    type: string | null = "application/json",
    query = "",
    headers: Record<string, string> = {},
  ) =>
    app.handle(
      new Request(`http://localhost/v1/internal/kv-cache/query${query}`, {
        method: "POST",
        // Bytes, so that no content type is added.
        body: typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body),
        headers: { ...headers, ...(type !== null && { "content-type": type }) },
      }),
    );
  return { app, directory, reports, logged, post };
}

/** A match of three device blocks and one host block of 128 tokens, synchronized after batch 7. */
export function streamMatch(instanceName: string, dpRank: number, changes: Partial<StreamMatch> = {}): StreamMatch {
  return {
    stream: {
      instanceName,
      dpRank,
      engine: "xllm",
      blockSize: 128,
      hashSeed: 1024,
      endpoint: "tcp://10.0.0.5:18000",
      replayEndpoint: "tcp://10.0.0.5:38000",
      topic: "xllm-kv",
    },
    unsynchronized: null,
    coverage: "full",
    batchSeq: 7,
    deviceHitBlocks: 3,
    hostOnlyHitBlocks: 1,
    diskOnlyHitBlocks: 0,
    deviceBlocks: 10,
    hostBlocks: 5,
    diskBlocks: 2,
    ...changes,
  };
}
