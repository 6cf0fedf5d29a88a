import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LogFields } from "#base";
import { describeUnsynchronized, type StreamDescription } from "#domain";
import { runEngines, SimulatedEngine } from "#sim";
import { IngestSupervisor } from "#stream";
import { type CurveKeyPair, createCurveKeyPair } from "#wire";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";

const LIMITS = {
  maxStreams: 4,
  maxBlocksPerStream: 100,
  maxMessageBytes: 10_000,
  maxBufferedBytes: 10_000,
  replayTimeoutMs: 2000,
  resyncIntervalMs: 30_000,
};

const CACHE = { blockSize: 4, deviceBlocksMax: 100, hostBlocksMax: 0, chainSeed: 1n, offloadForm: "with-tokens" } as const;

const ENGINE_KEYS = createCurveKeyPair();
const OTHER_KEYS = createCurveKeyPair();
const OWN_KEYS = createCurveKeyPair();

describe("Encrypted streams", () => {
  let supervisor: IngestSupervisor;
  const engines: SimulatedEngine[] = [];
  const logged: { message: string; fields: LogFields }[] = [];
  let enough: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    logged.length = 0;
    const log = (message: string, fields: LogFields = {}) => logged.push({ message, fields });
    const logger = { debug: log, info: log, warn: log, error: log };
    supervisor = await IngestSupervisor.start({ limits: LIMITS, logger, curveSecretKey: OWN_KEYS.secretKey });
    enough = new AbortController();
    running = runEngines(engines, { intervalMs: 2, signal: enough.signal });
  });

  afterEach(async () => {
    enough.abort();
    await running;
    await supervisor.stop();
    for (const engine of engines.splice(0)) engine.close();
  });

  /** An engine that holds one block, at ports that another may have afterwards. */
  const startEngine = (curveKeys: CurveKeyPair | null, [eventPort = 0, replayPort = 0]: number[] = []) => {
    const engine = new SimulatedEngine({ name: "engine:8000", cache: CACHE, curveKeys, eventPort, replayPort });
    engine.step([new Uint32Array(4)]);
    engines.push(engine);
    return engine;
  };

  /** Null while the one stream is synchronized, which it is with the engine's block; else why not. */
  const reason = (): string | null => {
    const matches = supervisor.directory.match(0, null, null);
    if (matches === "busy" || supervisor.notReady() !== null) return "not known yet";
    const [{ unsynchronized, deviceBlocks }] = matches;
    expect(deviceBlocks).toBe(unsynchronized === null ? 1 : 0);
    return unsynchronized === null ? null : describeUnsynchronized(unsynchronized);
  };

  const untilReason = (awaited: string | null) => eventually(`reason ${awaited}`, () => reason() === awaited);

  test("IngestSupervisor follows an engine with the right key, live too, and tells nobody a secret", async () => {
    const engine = startEngine(ENGINE_KEYS);
    supervisor.addStream(engine.stream);
    await untilReason(null);
    engine.clear();
    engine.step([new Uint32Array(4).fill(1)]);
    await eventually("the live batches", () => {
      const matches = supervisor.directory.match(0, null, null);
      return matches !== "busy" && matches[0].batchSeq === engine.batchSeq;
    });
    expect(logged).toContainEqual({ message: "CURVE client key", fields: { public_key: OWN_KEYS.publicKey } });
    expect(JSON.stringify([logged, await supervisor.reports()])).not.toContain(OWN_KEYS.secretKey);
  });

  const HANDSHAKE_FAILED =
    "the event endpoint breaks off the CURVE handshake: it has another key than curve_server_key, or speaks no CURVE";
  /** Of two sides that do not suit each other, the one that sees it later learns only that the other has closed. */
  const CASES: [what: string, reasons: string[], engineKeys: CurveKeyPair | null, curveServerKey: string | null][] = [
    ["has another key", [HANDSHAKE_FAILED], OTHER_KEYS, ENGINE_KEYS.publicKey],
    [
      "speaks in the clear",
      ["a curve_server_key is set, but the event endpoint does not speak CURVE", HANDSHAKE_FAILED],
      null,
      ENGINE_KEYS.publicKey,
    ],
    [
      "is encrypted unbeknown",
      [
        "the event endpoint demands CURVE or a login, but no curve_server_key is set",
        "the event endpoint breaks off the handshake: nothing is behind it, or it demands CURVE and no curve_server_key is set",
      ],
      ENGINE_KEYS,
      null,
    ],
  ];

  test.each(CASES)("IngestSupervisor says so when an engine %s, and goes on trying", async (_what, reasons, keys, serverKey) => {
    const ports = freePorts(2);
    const engine = startEngine(keys, ports);
    supervisor.addStream({ ...engine.stream, curveServerKey: serverKey });
    await eventually(reasons.join(" or "), () => reasons.includes(reason() ?? ""));
    engines.pop()?.close();
    startEngine(serverKey === null ? null : ENGINE_KEYS, ports);
    await untilReason(null);
  });

  test("IngestSupervisor says so when only the replay endpoint has another key", async () => {
    const events = startEngine(ENGINE_KEYS).stream;
    const { replayEndpoint } = startEngine(OTHER_KEYS).stream;
    const stream: StreamDescription = { ...events, replayEndpoint };
    supervisor.addStream(stream);
    await untilReason(HANDSHAKE_FAILED.replace("event", "replay"));
  });
});
