import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { runEngines, SimulatedEngine } from "#sim";
import { createCurveKeyPair } from "#wire";
import { configFile, removeConfigFiles } from "../config/config-file.ts";
import { type Certificates, createCertificates } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { queryUntil, startWarmpath, writeKvEventsFile } from "./warmpath-process.ts";

const CACHE = { blockSize: 4, deviceBlocksMax: 100, hostBlocksMax: 0, chainSeed: 1n, offloadForm: "with-tokens" } as const;

const TOKEN = "token-that-nobody-sees";

/** A build of the package for glibc, which was made without CURVE. */
const LIBZMQ_WITHOUT_CURVE = new URL("../../node_modules/zeromq/build/linux/x64/node/115/addon.node", import.meta.url).pathname;

interface ListedStream {
  synchronized: boolean;
  device_blocks: number;
  error: string | null;
}

interface Listing {
  instances: { name: string; streams: ListedStream[] }[];
  static_streams: ListedStream[];
}

let certificates: Certificates;
let pemFiles: string[];

beforeAll(async () => {
  certificates = createCertificates();
  const { cert, key } = certificates.server;
  pemFiles = ["--tls-cert", await configFile(cert), "--tls-key", await configFile(key)];
});

afterAll(removeConfigFiles);

function fileOf({ stream }: SimulatedEngine): Promise<string> {
  return writeKvEventsFile({
    streams: [
      {
        instance_name: stream.instanceName,
        block_size: stream.blockSize,
        endpoint: stream.endpoint,
        replay_endpoint: stream.replayEndpoint,
        topic: stream.topic,
        curve_server_key: stream.curveServerKey,
      },
    ],
  });
}

describe("Warmpath with all of its doors locked", () => {
  const ownKeys = createCurveKeyPair();
  const engines = [createCurveKeyPair(), createCurveKeyPair()].map(
    (curveKeys, n) => new SimulatedEngine({ name: `127.0.0.1:${n + 1}`, cache: CACHE, curveKeys }),
  );
  const enough = new AbortController();
  const running = runEngines(engines, { intervalMs: 2, signal: enough.signal });

  afterAll(async () => {
    enough.abort();
    await running;
    for (const engine of engines) engine.close();
  });

  test("follows encrypted engines from its file and by registration over HTTPS, and shows no secret anywhere", async () => {
    const [listed, registered] = engines as [SimulatedEngine, SimulatedEngine];
    for (const engine of engines) engine.step([new Uint32Array(4)]);
    const keyFile = await configFile(ownKeys.secretKey);
    const warmpath = startWarmpath(
      [...pemFiles, "--curve-secret-key-file", keyFile, "--kv-events-config-file", await fileOf(listed)],
      { WARMPATH_INTERNAL_API_TOKEN: TOKEN },
    );
    const address = `https://127.0.0.1:${await warmpath.port}`;
    const ask = (path: string, options: BunFetchRequestInit = {}) =>
      fetch(address + path, { tls: { ca: certificates.ca }, ...options });
    const { stream } = registered;
    const registration = {
      name: stream.instanceName,
      engine: "xllm",
      block_size: stream.blockSize,
      topic: stream.topic,
      event_endpoints: [stream.endpoint],
      replay_endpoints: [stream.replayEndpoint],
      curve_server_key: stream.curveServerKey,
    };
    const register = (headers: Record<string, string>) =>
      ask("/v1/instances", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(registration),
      });
    expect((await register({})).status).toBe(401);
    expect((await register({ "x-internal-token": TOKEN })).status).toBe(201);

    let answers = "";
    await eventually("both streams are synchronized", async () => {
      const response = await ask("/v1/instances");
      if (response.status !== 200) return false;
      answers = await response.text();
      const { instances, static_streams } = JSON.parse(answers) as Listing;
      const streams = [...static_streams, ...instances.flatMap((instance) => instance.streams)];
      return streams.length === 2 && streams.every((found) => found.synchronized && found.device_blocks === 1);
    });
    answers += await (await ask("/metrics")).text();
    warmpath.signal("SIGTERM");
    expect(await warmpath.exitCode).toBe(0);
    const { stdout, stderr } = await warmpath.output;
    expect(stderr).toContain(ownKeys.publicKey);
    const shown = answers + stdout + stderr;
    for (const secret of [TOKEN, certificates.server.key, ownKeys.secretKey]) expect(shown).not.toContain(secret);
  });
});

describe("Warmpath that cannot be encrypted", () => {
  test("names the wrong key of its certificate and ends with code 2", async () => {
    const otherKey = await configFile(certificates.client.key);
    const warmpath = startWarmpath([...pemFiles.slice(0, 3), otherKey]);
    expect(await warmpath.exitCode).toBe(2);
    expect((await warmpath.output).stderr).toContain(
      `--tls-key: found ${JSON.stringify(otherKey)}, the key of another certificate`,
    );
  });

  test("does not repeat a password in the address of etcd, and ends with code 2", async () => {
    const warmpath = startWarmpath(["--etcd-addr", "http://warmpath:s3cret@etcd:2379"]);
    expect(await warmpath.exitCode).toBe(2);
    const { stderr } = await warmpath.output;
    expect(stderr).toContain('--etcd-addr: found "http://***@etcd:2379"');
    expect(stderr).not.toContain("s3cret");
  });

  test.skipIf(!existsSync(LIBZMQ_WITHOUT_CURVE))(
    "says of each stream that its libzmq has no CURVE, and never asks in the clear",
    async () => {
      const engine = new SimulatedEngine({ name: "engine:8000", cache: CACHE, curveKeys: createCurveKeyPair() });
      const warmpath = startWarmpath(["--kv-events-config-file", await fileOf(engine)], {
        WARMPATH_LIBZMQ: LIBZMQ_WITHOUT_CURVE,
      });
      const match = await queryUntil(await warmpath.port, [1], ({ error }) => error !== "not connected to the publisher yet");
      expect(match.error).toBe("a curve_server_key is set, but the libzmq that is loaded has no CURVE");
      warmpath.signal("SIGTERM");
      expect(await warmpath.exitCode).toBe(0);
      engine.close();
    },
  );
});
