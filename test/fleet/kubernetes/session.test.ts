import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger } from "#base";
import { KubernetesSource } from "../../../src/fleet/kubernetes/mod.ts";
import { Environment } from "./environment.ts";
import { RecordingRegistrar } from "./recording-registrar.ts";
import { waitFor } from "./wait-for.ts";

const FIXTURES = new URL("../../fixtures/kubernetes/", import.meta.url);
const podList = readFileSync(new URL("pod-list.json", FIXTURES), "utf8");
const watch = readFileSync(new URL("watch.jsonl", FIXTURES), "utf8");

const VLLM = "0c1f7a52-3c5e-4a0e-8a44-6f5d2f7c9b11";
const NEW_VLLM = "7be4d3f0-92d1-4d5b-b0b6-1d0a4a2c7e22";
const XLLM = "c3a9e6d8-5b7f-4f7a-9c1e-2e8b6d4f5a33";
const NEXT_XLLM = "e81d0b94-0f6c-4c2b-8d7a-9b3c5e7f1d44";

let stop: (() => Promise<void>) | null = null;

afterEach(async () => {
  await stop?.();
  stop = null;
});

/** Answers the list always, the first watch with the session in pieces of `pieceBytes`, and later ones with silence. */
async function serve(pieceBytes: number): Promise<{ server: Server; watched: string[] }> {
  const watched: string[] = [];
  const server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
    if (!searchParams.has("watch")) {
      response.end(podList);
      return;
    }
    watched.push(searchParams.get("resourceVersion") ?? "");
    response.flushHeaders();
    if (watched.length > 1) return;
    for (let start = 0; start < watch.length; start += pieceBytes) {
      response.write(watch.slice(start, start + pieceBytes));
      await new Promise(setImmediate);
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, watched };
}

test.each([1000, 1_000_000])("KubernetesSource follows a session with whole pods, in pieces of %d bytes", async (pieceBytes) => {
  const { server, watched } = await serve(pieceBytes);
  const environment = new Environment();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  environment.writeKubeconfig({ server: url, "insecure-skip-tls-verify": true });
  const registrar = new RecordingRegistrar();
  const limits = { backoff: { firstMs: 5, maxMs: 20 } };
  const logger = createLogger(() => {});
  const source = new KubernetesSource({ labelSelector: "app=engine", namespace: "", registrar, logger, limits });
  stop = async () => {
    await source.stop();
    server.closeAllConnections();
    server.close();
    environment.restore();
  };
  source.start();
  await waitFor("the watch after the session", () => watched.length === 2);
  expect(watched).toEqual(["481520", "481520"]);
  expect(registrar.calls).toEqual([
    `put 10.244.3.17:8000 ${VLLM}`,
    `put 10.244.4.2:9000 ${XLLM}`,
    `put 10.244.5.9:8000 ${NEW_VLLM}`,
    `loseLease 10.244.3.17:8000 ${VLLM}`,
    `put 10.244.3.17:8000 ${VLLM}`,
    `loseLease 10.244.4.2:9000 ${XLLM}`,
    `remove 10.244.4.2:9000 ${XLLM}`,
    `put 10.244.4.2:9000 ${NEXT_XLLM}`,
    // The session ends with an expired version; the list that follows is the first one again.
    `remove 10.244.4.2:9000 ${NEXT_XLLM}`,
    `put 10.244.3.17:8000 ${VLLM}`,
    `loseLease 10.244.5.9:8000 ${NEW_VLLM}`,
    `put 10.244.4.2:9000 ${XLLM}`,
  ]);
  expect(registrar.registrations.get("10.244.4.2:9000")).toMatchObject({
    role: "PREFILL",
    backend: "xllm",
    dpSize: 2,
    eventEndpoints: null,
  });
  expect(registrar.registrations.get("10.244.3.17:8000")).toMatchObject({
    blockSize: 16,
    topic: "kv",
    eventEndpoints: ["tcp://10.244.3.17:5557"],
    replayEndpoints: [null],
  });
});
