import { afterEach, beforeEach, describe, test } from "bun:test";
import { describeUnsynchronized } from "#domain";
import { IngestSupervisor } from "#stream";
import { type CurveKeyPair, createCurveKeyPair } from "#wire";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { QUIET } from "../support/quiet-logger.ts";
import { BLOCK_SIZE, LEFT } from "./blocks.ts";
import { stored } from "./cache-event.ts";
import { PeerEngine, type PeerOptions, TOPICS } from "./peer-engine.ts";
import { python } from "./suite.ts";

const LIMITS = {
  maxStreams: 1,
  maxBlocksPerStream: 100,
  maxMessageBytes: 100_000,
  maxBufferedBytes: 100_000,
  replayTimeoutMs: 2000,
  resyncIntervalMs: 30_000,
};

const PEER_KEYS = createCurveKeyPair();
const OWN_KEYS = createCurveKeyPair();

const STRANGER = createCurveKeyPair();

describe.skipIf(python === null)("An encrypted peer", () => {
  let supervisor: IngestSupervisor;
  let peer: PeerEngine;

  beforeEach(async () => {
    supervisor = await IngestSupervisor.start({ limits: LIMITS, logger: QUIET, curveSecretKey: OWN_KEYS.secretKey });
  });

  afterEach(async () => {
    await supervisor.stop();
    await peer.stop();
  });

  /** Starts the peer with a block in its cache, and listens to it with this key. */
  async function follow(curve: NonNullable<PeerOptions["curve"]>, { publicKey }: CurveKeyPair): Promise<void> {
    const [events, replay] = freePorts(2) as [number, number];
    peer = await PeerEngine.start(python as string, { events, replay }, { engine: "vllm", curve });
    await peer.publish([stored(LEFT.slice(0, 1))]);
    supervisor.addStream({
      instanceName: "peer:8000",
      dpRank: 0,
      engine: "vllm",
      blockSize: BLOCK_SIZE,
      hashSeed: 1024,
      endpoint: `tcp://127.0.0.1:${events}`,
      replayEndpoint: `tcp://127.0.0.1:${replay}`,
      topic: TOPICS.vllm,
      curveServerKey: publicKey,
      incarnation: "",
    });
  }

  /** `"2 blocks"` while the stream is synchronized, else why it is not. */
  function answer(): string {
    const matches = supervisor.directory.match(0, null, null);
    const match = matches === "busy" ? undefined : matches[0];
    if (match === undefined) return "busy";
    return match.unsynchronized === null ? `${match.deviceBlocks} blocks` : describeUnsynchronized(match.unsynchronized);
  }

  const untilAnswer = (awaited: string) => eventually(awaited, () => answer() === awaited);

  test.each([
    ["lets everyone in", {}],
    ["lets Warmpath in alone", { allowedClient: OWN_KEYS.publicKey }],
  ])("that %s is followed, its replay and what comes later", async (_what, clients) => {
    await follow({ secretKey: PEER_KEYS.secretKey, ...clients }, PEER_KEYS);
    await untilAnswer("1 blocks");
    await peer.publish([stored(LEFT.slice(0, 3))]);
    await untilAnswer("3 blocks");
  });

  test("that has another key breaks off the handshake", async () => {
    await follow({ secretKey: STRANGER.secretKey }, PEER_KEYS);
    await untilAnswer(
      "the event endpoint breaks off the CURVE handshake: it has another key than curve_server_key, or speaks no CURVE",
    );
  });

  test("that lets others in alone denies Warmpath", async () => {
    await follow({ secretKey: PEER_KEYS.secretKey, allowedClient: STRANGER.publicKey }, PEER_KEYS);
    await untilAnswer("the event endpoint denies Warmpath's own CURVE key");
  });
});
