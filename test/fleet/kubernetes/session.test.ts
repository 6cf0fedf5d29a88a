import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { KubernetesSource } from "../../../src/fleet/kubernetes/mod.ts";
import { eventually } from "../../support/eventually.ts";
import { QUIET } from "../../support/quiet-logger.ts";
import { Environment } from "./environment.ts";
import { RecordingRegistrar } from "./recording-registrar.ts";

const FIXTURES = new URL("../../fixtures/kubernetes/", import.meta.url);
const podList = readFileSync(new URL("pod-list.json", FIXTURES), "utf8");
const watch = readFileSync(new URL("watch.jsonl", FIXTURES), "utf8");

/** A pod's uids in the order in which the session shows them: another uid is another pod of that name. */
function uidsOf(podName: string): string[] {
  const listed = (JSON.parse(podList) as { items: PodObject[] }).items;
  const watched = watch
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { object: PodObject }).object);
  const pods = [...listed, ...watched].filter(({ metadata }) => metadata.name === podName);
  return [...new Set(pods.map(({ metadata }) => metadata.uid))];
}

interface PodObject {
  metadata: { name?: string; uid: string };
}

const [VLLM] = uidsOf("vllm-7c9d8b6f54-4kq7p");
const [NEW_VLLM] = uidsOf("vllm-7c9d8b6f54-zx8wd");
const [XLLM, NEXT_XLLM] = uidsOf("xllm-prefill-0");
const LIST_VERSION = (JSON.parse(podList) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;

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
  const source = new KubernetesSource({ labelSelector: "app=engine", namespace: "", registrar, logger: QUIET, limits });
  stop = async () => {
    await source.stop();
    server.closeAllConnections();
    server.close();
    environment.restore();
  };
  source.start();
  await eventually("the watch after the session", () => watched.length === 2);
  expect(watched).toEqual([LIST_VERSION, LIST_VERSION]);
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
