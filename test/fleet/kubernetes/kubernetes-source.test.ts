import { afterEach, describe, expect, test } from "bun:test";
import type { KubernetesSourceOptions } from "../../../src/fleet/kubernetes/mod.ts";
import { eventually } from "../../support/eventually.ts";
import { podWith } from "./pods.ts";
import { SourceScene } from "./source-scene.ts";

let scene: SourceScene | null = null;

async function sceneWith(options: Partial<KubernetesSourceOptions> = {}): Promise<SourceScene> {
  scene = await SourceScene.create(options);
  return scene;
}

afterEach(async () => {
  await scene?.stop();
  scene = null;
});

describe("KubernetesSource", () => {
  test("puts what is listed, then follows what becomes of it", async () => {
    const { server, source, registrar, called } = bound(await sceneWith());
    server.put(podWith());
    expect(source.notReady()).not.toBeNull();
    expect(source.isConnected).toBe(false);
    source.start();
    await called("put 10.0.0.5:8000 uid-a");
    expect(source.notReady()).toBeNull();
    await eventually("the watch", () => source.isConnected);
    server.put(podWith({ name: "b", podIP: "10.0.0.6" }));
    await called("put 10.0.0.6:8000 uid-b");
    server.put(podWith({ isReady: false }));
    await called("loseLease 10.0.0.5:8000 uid-a");
    server.delete("a");
    await called("remove 10.0.0.5:8000 uid-a");
    expect([...registrar.registrations.keys()]).toEqual(["10.0.0.6:8000"]);
    expect([server.countOf("list"), server.countOf("watch")]).toEqual([1, 1]);
  });

  test("asks for the selector's pods of its namespace, with bookmarks and an end", async () => {
    const { server, follow } = bound(
      await sceneWith({ labelSelector: "app=engine", namespace: "other", limits: { pagePods: 7 } }),
    );
    await follow();
    const [list, watch] = server.requests;
    expect(list?.path).toBe("/api/v1/namespaces/other/pods");
    expect(Object.fromEntries(list?.query ?? [])).toEqual({ labelSelector: "app=engine", limit: "7" });
    expect(Object.fromEntries(watch?.query ?? [])).toEqual({
      labelSelector: "app=engine",
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: "1000",
      timeoutSeconds: "290",
    });
  });

  test("sees only the selector's pods", async () => {
    const { server, follow, called } = bound(await sceneWith({ labelSelector: "app=engine" }));
    await follow();
    server.put(podWith({ name: "database", podIP: "10.0.0.9" }));
    server.put(podWith({ labels: { app: "engine" } }));
    await called("put 10.0.0.5:8000 uid-a");
  });

  test("takes a pod that comes again with the same address for another process", async () => {
    const { server, follow, registrar, called } = bound(await sceneWith());
    server.put(podWith({ uid: "first" }));
    await follow();
    server.delete("a");
    server.put(podWith({ uid: "second" }));
    await called("put 10.0.0.5:8000 second");
    expect(registrar.take()).toEqual(["remove 10.0.0.5:8000 first", "put 10.0.0.5:8000 second"]);
  });

  test("puts together a list of several pages", async () => {
    const { server, follow, registrar } = bound(await sceneWith({ limits: { pagePods: 2 } }));
    for (const last of [1, 2, 3, 4, 5]) server.put(podWith({ name: `p${last}`, podIP: `10.0.0.${last}` }));
    await follow();
    expect([server.countOf("list"), registrar.registrations.size]).toEqual([3, 5]);
  });

  test("begins a list again whose pages have expired", async () => {
    const { server, source, registrar } = bound(await sceneWith({ limits: { pagePods: 2 } }));
    for (const last of [1, 2, 3]) server.put(podWith({ name: `p${last}`, podIP: `10.0.0.${last}` }));
    server.refusals.push(null, 410);
    source.start();
    await eventually("all pods", () => registrar.registrations.size === 3);
    expect(server.requests.map(({ query }) => query.has("continue")).slice(0, 3)).toEqual([false, true, false]);
  });

  test("goes on from the last version when a watch ends or breaks", async () => {
    const { server, follow, called } = bound(await sceneWith());
    await follow();
    server.put(podWith());
    await called("put 10.0.0.5:8000 uid-a");
    server.end();
    server.put(podWith({ name: "b", podIP: "10.0.0.6" }));
    await called("put 10.0.0.6:8000 uid-b");
    server.cut();
    server.delete("b");
    await called("remove 10.0.0.6:8000 uid-b");
    expect(server.countOf("list")).toBe(1);
    expect(server.requests.slice(1).map(({ query }) => query.get("resourceVersion"))).toEqual(["1000", "1001", "1002"]);
    expect(scene?.linesOf("warn")).toEqual([]);
  });

  test("goes on from a bookmark", async () => {
    const { server, follow } = bound(await sceneWith({ labelSelector: "app=engine" }));
    await follow();
    server.put(podWith());
    server.bookmark();
    server.end();
    await eventually("another watch", () => server.countOf("watch") === 2);
    expect(server.requests.at(-1)?.query.get("resourceVersion")).toBe("1001");
  });

  test("does not take half a line for a change", async () => {
    const { server, follow, registrar, called } = bound(await sceneWith());
    server.put(podWith());
    await follow();
    server.send('{"type":"DELETED","object":');
    server.cut();
    server.put(podWith({ name: "b", podIP: "10.0.0.6" }));
    await called("put 10.0.0.6:8000 uid-b");
    expect(registrar.registrations.size).toBe(2);
  });

  test("opens a watch again that has fallen silent", async () => {
    const { server, follow } = bound(await sceneWith({ limits: { silenceMs: 30 } }));
    await follow();
    await eventually("another watch", () => server.countOf("watch") >= 2);
    expect(server.countOf("list")).toBe(1);
  });

  test("lists again when its version has expired, and applies the difference", async () => {
    const { server, follow, registrar, called } = bound(await sceneWith());
    server.put(podWith());
    server.put(podWith({ name: "b", podIP: "10.0.0.6" }));
    await follow();
    server.cut();
    server.delete("a");
    server.expire();
    await called("put 10.0.0.6:8000 uid-b");
    expect(registrar.take()).toEqual(["remove 10.0.0.5:8000 uid-a", "put 10.0.0.6:8000 uid-b"]);
    expect(scene?.linesOf("warn")).toEqual([]);
  });

  test("lists again when an open watch says that its version has expired", async () => {
    const { server, follow, called } = bound(await sceneWith());
    server.put(podWith());
    await follow();
    server.expire();
    await called("put 10.0.0.5:8000 uid-a");
    expect(server.countOf("list")).toBe(2);
  });

  test.each(["nonsense\n", '{"type":"MOVED","object":{}}\n', '{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n', "[]\n"])(
    "lists again after the line %p, which may have said anything",
    async (line) => {
      const { server, follow, called } = bound(await sceneWith());
      server.put(podWith());
      await follow();
      server.send(line);
      await called("put 10.0.0.5:8000 uid-a");
      expect(scene?.linesOf("warn")).toHaveLength(1);
    },
  );

  test("keeps the fleet as it is while the API server fails, and says so in one line", async () => {
    const { server, follow, registrar } = bound(await sceneWith());
    server.put(podWith());
    await follow();
    server.refusals.push(500, 500, 503, 429);
    server.cut();
    await eventually("the end of the failures", () => server.refusals.length === 0);
    await eventually("another watch", () => server.watchCount === 1);
    await eventually("the line of the end", () => scene?.linesOf("info").length === 2);
    expect(registrar.calls.filter((call) => !call.startsWith("put"))).toEqual([]);
    expect(scene?.linesOf("warn")).toEqual(["Kubernetes pods are not followed; the fleet stays as it is"]);
    expect(scene?.linesOf("info").at(-1)).toBe("Follows Kubernetes pods again");
  });

  test("keeps the version when it is only told to wait", async () => {
    const { server, follow } = bound(await sceneWith());
    await follow();
    server.refusals.push(429);
    server.cut();
    await eventually("another watch", () => server.countOf("watch") === 3);
    expect(server.countOf("list")).toBe(1);
  });

  test.each([
    [401, "a token or client certificate that it knows, with the right to list and watch"],
    [403, "a role with the right to list and watch"],
  ])("names what is needed when it is answered %d", async (status, needed) => {
    const { server, source } = bound(await sceneWith());
    server.refusals.push(status);
    source.start();
    await eventually("a reason", () => source.notReady()?.includes(`${needed} on pods in namespace "llm"`) ?? false);
    await eventually("a watch", () => server.watchCount === 1);
    expect(source.notReady()).toBeNull();
  });

  test("refuses a selector that matches more pods than it follows", async () => {
    const { server, source } = bound(await sceneWith({ limits: { podsMax: 1 } }));
    server.put(podWith());
    server.put(podWith({ name: "b", podIP: "10.0.0.6" }));
    source.start();
    await eventually("a reason", () => source.notReady()?.includes("matches more than 1, a narrower one is needed") ?? false);
    server.delete("b");
    await eventually("readiness", () => source.notReady() === null);
  });

  test("stops while it watches, and hears nothing more", async () => {
    const { server, source, registrar, follow } = bound(await sceneWith());
    await follow();
    await source.stop();
    await eventually("the end of the watch", () => server.watchCount === 0);
    server.put(podWith());
    expect(registrar.calls).toEqual([]);
  });

  test("stops while it waits to try again", async () => {
    const { server, source } = bound(await sceneWith({ limits: { backoff: { firstMs: 600_000, maxMs: 600_000 } } }));
    server.refusals.push(500);
    source.start();
    await eventually("a failure", () => scene?.linesOf("warn").length === 1);
    await source.stop();
    expect(server.requests).toHaveLength(1);
  });

  test("stops before it was started", async () => {
    const { source } = await sceneWith();
    await source.stop();
    expect(source.notReady()).not.toBeNull();
  });
});

/** The scene's parts and methods, for taking apart. */
function bound({ server, source, registrar }: SourceScene) {
  return {
    server,
    source,
    registrar,
    follow: () => scene?.follow(),
    called: (call: string) => scene?.called(call),
  };
}
