import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Etcd3, Range } from "etcd3";
import { EtcdServer, findEtcd } from "../../support/etcd-server.ts";
import { eventually } from "../../support/eventually.ts";
import type { TcpProxy } from "../../support/tcp-proxy.ts";
import { FollowedEtcd } from "./followed-etcd.ts";
import { loadValue, registrationValue } from "./registration-value.ts";

const TEST_TIMEOUT_MS = 20_000;
const NAME = "10.0.0.5:8000";

const binary = await findEtcd();

let server: EtcdServer;
let client: Etcd3;
let followed: FollowedEtcd;
/** Each test has its own. */
let namespace = "";
let tests = 0;

beforeAll(async () => {
  if (binary === null) return;
  server = await EtcdServer.start(binary);
  client = server.client();
});

afterAll(async () => {
  client?.close();
  await server?.stop();
});

beforeEach(() => {
  namespace = `test-${tests++}`;
  followed = new FollowedEtcd();
});

afterEach(() => followed.stop());

function key(text: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/${namespace}/XLLM:`), Buffer.from(text as string)]);
}

async function put(text: string, incarnation: string): Promise<void> {
  const role = text.split(":")[0] as "MIX";
  await client.put(key(text)).value(registrationValue(role, incarnation));
}

async function remove(text: string): Promise<void> {
  await client.delete().key(key(text));
}

describe.skipIf(binary === null)("EtcdSource", () => {
  test("EtcdSource lists what is there and then follows what changes", async () => {
    await put(`PREFILL:${NAME}`, "one");
    await client.put(key(`LOADMETRICS:${NAME}`)).value(loadValue(3, 0.5));
    const source = followed.create({ addresses: [server.endpoint], namespace });
    expect(source.notReady()).toContain("The instances in etcd are not known yet");
    source.start();
    await followed.sees(`put PREFILL ${NAME} one`, `load ${NAME} 3 0.5`);
    expect(source.notReady()).toBeNull();

    await put("DECODE:b:1", "b");
    await put(`PREFILL:${NAME}`, "one");
    await remove("DECODE:b:1");
    await client.put(key(`LOADMETRICS:${NAME}`)).value(loadValue(4, 0.5));
    await client.delete().key(key(`LOADMETRICS:${NAME}`));
    await put(`PREFILL:${NAME}`, "two");
    await followed.sees(
      "put DECODE b:1 b",
      `put PREFILL ${NAME} one`,
      "lose b:1 b",
      `load ${NAME} 4 0.5`,
      `put PREFILL ${NAME} two`,
    );
    expect(source.state).toMatchObject({ isConnected: true, error: null });
    expect(followed.logger.lines).toEqual([`INFO  Connected to etcd address=${server.endpoint} instances=1`]);
  });

  test("EtcdSource sees a lease run out as the loss of the incarnation that had it", async () => {
    await followed.follow({ addresses: [server.endpoint], namespace });
    const { ID: lease } = await client.leaseClient.leaseGrant({ TTL: 1 });
    await client.kv.put({ key: key(`MIX:${NAME}`), value: registrationValue("MIX", "leased"), lease });
    await followed.sees(`put MIX ${NAME} leased`, `lose ${NAME} leased`);
  });

  test("EtcdSource sees a change of role in either order", async () => {
    await put("PREFILL:first:1", "one");
    await put("PREFILL:last:1", "two");
    await followed.follow({ addresses: [server.endpoint], namespace });
    await followed.sees("put PREFILL first:1 one", "put PREFILL last:1 two");
    await put("DECODE:first:1", "one");
    await remove("PREFILL:first:1");
    await remove("PREFILL:last:1");
    await put("DECODE:last:1", "two");
    await followed.sees("put DECODE first:1 one", "lose last:1 two", "put DECODE last:1 two");
  });

  test("EtcdSource sees the changes of one transaction in order", async () => {
    await put(`PREFILL:${NAME}`, "one");
    await followed.follow({ addresses: [server.endpoint], namespace });
    const value = registrationValue("MIX", "one");
    await client
      .if("none", "Version", "==", 0)
      .then(client.delete().key(key(`PREFILL:${NAME}`)), client.put(key(`MIX:${NAME}`)).value(value))
      .commit();
    await put("MIX:last:1", "z");
    await followed.sees(`put PREFILL ${NAME} one`, `lose ${NAME} one`, `put MIX ${NAME} one`, "put MIX last:1 z");
  });

  test("EtcdSource takes raw bytes and malformed values for what they are, and goes on", async () => {
    await client.put(key("CACHE:\0")).value("{}");
    await client.put(key(Buffer.of(0x45, 0, 0xff))).value("x");
    await client.put(key(Buffer.from([...Buffer.from("MIX:a"), 0, 0xff]))).value("x");
    await client.put(key("MIX:a:1")).value(Buffer.of(0, 0xff));
    const source = await followed.follow({ addresses: [server.endpoint], namespace });
    await followed.sees('refuse a:1: the value is "\\u0000\ufffd", JSON is needed');
    await client.put(key("MIX:nul\0:1")).value("{}");
    await client.put(key("MIX:b:1")).value(registrationValue("DECODE", ""));
    await put("MIX:c:1", "c");
    await remove("MIX:a:1");
    await followed.sees(
      'refuse b:1: type is 2 DECODE, 3 MIX is needed under the key "XLLM:MIX:b:1"',
      "put MIX c:1 c",
      "withdraw a:1",
    );
    expect(source.state.isConnected).toBe(true);
    expect(followed.logger.count("Keys in etcd are skipped")).toBe(2);
  });

  test("EtcdSource sees nothing of other namespaces", async () => {
    await client.put("XLLM:MIX:root:1").value(registrationValue("MIX", "r"));
    await put("MIX:own:1", "own");
    await client.put(`/${namespace}0/XLLM:MIX:longer:1`).value(registrationValue("MIX", "l"));
    await client.put(`/${namespace}/x/XLLM:MIX:deeper:1`).value(registrationValue("MIX", "d"));
    const root = new FollowedEtcd();
    await root.follow({ addresses: [server.endpoint], namespace: "" });
    await followed.follow({ addresses: [server.endpoint], namespace: `/${namespace}/` });
    await client.put("XLLM:MIX:root:2").value(registrationValue("MIX", "r"));
    await put("MIX:own:2", "own");
    await root.sees("put MIX root:1 r", "put MIX root:2 r");
    await followed.sees("put MIX own:1 own", "put MIX own:2 own");
    await root.stop();
    await client.delete().prefix("XLLM:");
  });

  test("EtcdSource lists more instances than fit into one answer, and tells none of them twice", async () => {
    await Promise.all(Array.from({ length: 1000 }, (_, n) => put(`PREFILL:10.0.0.5:${n + 1}`, "one")));
    const proxy = followed.proxyTo(server);
    await followed.follow({ addresses: [proxy.endpoint], namespace });
    await eventually("all are put", () => followed.registrar.calls.length === 1000);
    expect(new Set(followed.registrar.take()).size).toBe(1000);
    await followed.reconnect(proxy);
    await put("MIX:last:1", "z");
    await followed.sees("put MIX last:1 z");
  });
});

describe.skipIf(binary === null)("EtcdSource when etcd is away", () => {
  test("EtcdSource applies the difference when its history was compacted meanwhile, and loses nobody who stayed", async () => {
    await put("PREFILL:stays:1", "s");
    await put("PREFILL:goes:1", "g");
    await put("PREFILL:changes:1", "old");
    const proxy = followed.proxyTo(server);
    const source = await followed.follow({ addresses: [proxy.endpoint], namespace });
    await followed.sees("put PREFILL changes:1 old", "put PREFILL goes:1 g", "put PREFILL stays:1 s");

    proxy.refuse();
    await eventually("the loss is noticed", () => !source.state.isConnected);
    await put("PREFILL:comes-and-goes:1", "c");
    await remove("PREFILL:comes-and-goes:1");
    await put("PREFILL:changes:1", "new");
    await put("PREFILL:comes:1", "c");
    await remove("PREFILL:goes:1");
    const { header } = await client.kv.range({ key: key("") });
    await client.kv.compact({ revision: header.revision, physical: true });
    expect(followed.registrar.calls).toEqual([]);
    expect(source.notReady()).toBeNull();

    proxy.forward();
    await followed.sees("lose goes:1 g", "put PREFILL changes:1 new", "put PREFILL comes:1 c");
    await eventually("it is connected again", () => source.state.isConnected);
    expect(followed.logger.count("Lost etcd")).toBe(1);
    expect(followed.logger.count("Connected to etcd")).toBe(2);
  });

  test(
    "EtcdSource notices a peer that is gone without a word",
    async () => {
      await put("PREFILL:stays:1", "s");
      const proxy = followed.proxyTo(server);
      const source = await followed.follow({ addresses: [proxy.endpoint], namespace });
      proxy.goSilent();
      await put("PREFILL:comes:1", "c");
      await eventually("the silence is noticed", () => !source.state.isConnected, 11_000);
      proxy.forward();
      await followed.sees("put PREFILL stays:1 s", "put PREFILL comes:1 c");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "EtcdSource survives a crash of etcd and its return on the same data",
    async () => {
      const own = await followed.serverOf(binary as string);
      const writer = own.client();
      await writer.put("XLLM:MIX:a:1").value(registrationValue("MIX", "a"));
      writer.close();
      const source = await followed.follow({ addresses: [own.endpoint], namespace: "" });
      await followed.sees("put MIX a:1 a");
      await own.kill();
      await eventually("the loss is noticed", () => !source.state.isConnected);
      await own.restart();
      await eventually("it is connected again", () => source.state.isConnected);
      const again = own.client();
      await again.put("XLLM:MIX:b:1").value(registrationValue("MIX", "b"));
      again.close();
      await followed.sees("put MIX b:1 b");
      expect(followed.logger.count("Lost etcd")).toBe(1);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "EtcdSource waits for an etcd that comes up later",
    async () => {
      const own = await followed.serverOf(binary as string, { isRunning: false });
      const source = followed.create({ addresses: [own.endpoint], namespace: "" });
      source.start();
      await eventually("the first try failed", () => source.state.error !== null);
      expect(source.notReady()).toContain("ECONNREFUSED");
      await own.restart();
      await eventually("it is connected", () => source.state.isConnected);
      expect(source.notReady()).toBeNull();
      expect(followed.logger.count("Cannot follow etcd")).toBe(1);
    },
    TEST_TIMEOUT_MS,
  );

  test("EtcdSource goes on to the next address", async () => {
    await put("MIX:a:1", "a");
    const proxy = followed.proxyTo(server);
    proxy.refuse();
    await followed.follow({ addresses: [proxy.endpoint, server.endpoint], namespace });
    await followed.sees("put MIX a:1 a");
  });
});

describe.skipIf(binary === null)("EtcdSource with users", () => {
  const credentials = { username: "warmpath", password: "pass-phrase-5" };

  test(
    "EtcdSource says what is wrong with its user, keeps trying, and never shows the password",
    async () => {
      const own = await followed.serverOf(binary as string);
      await own.enableAuthentication();
      const root = own.client();
      const source = followed.create({ addresses: [own.endpoint], namespace, credentials });
      source.start();
      await eventually("the user is missed", () => source.state.error?.includes('etcd refuses user "warmpath"') === true);

      await root.user("warmpath").create(credentials.password);
      await eventually("the role is missed", () => source.state.error?.includes("may not read the keys") === true);
      expect(source.notReady()).toContain(`"/${namespace}/XLLM:D" to "/${namespace}/XLLM:Q"`);

      await root.role("reader").create();
      await root.user("warmpath").addRole("reader");
      await root.role("reader").grant({ permission: "Read", range: new Range(key("D"), key("Q")) });
      await eventually("it is connected", () => source.state.isConnected);
      await root.put(key(`MIX:${NAME}`)).value(registrationValue("MIX", "one"));
      await followed.sees(`put MIX ${NAME} one`);
      root.close();

      expect(followed.logger.lines).toHaveLength(3);
      expect(followed.logger.lines.join("\n")).not.toContain(credentials.password);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "EtcdSource without a user says that etcd asks for one",
    async () => {
      const own = await followed.serverOf(binary as string);
      await own.enableAuthentication();
      const source = followed.create({ addresses: [own.endpoint], namespace });
      source.start();
      await eventually("the user is missed", () => source.state.error?.includes("set ETCD_USERNAME and ETCD_PASSWORD") === true);
    },
    TEST_TIMEOUT_MS,
  );

  test("EtcdSource warns that its user is not used where etcd has authentication switched off", async () => {
    const source = await followed.follow({ addresses: [server.endpoint], namespace, credentials });
    expect(source.state.isConnected).toBe(true);
    expect(followed.logger.count("authentication switched off")).toBe(1);
  });
});

describe.skipIf(binary === null)("EtcdSource when it is stopped", () => {
  const cases: [string, (proxy: TcpProxy) => void][] = [
    ["while it watches", () => {}],
    ["while a peer is silent", (proxy) => proxy.goSilent()],
    ["while it waits for the next try", (proxy) => proxy.refuse()],
  ];

  test.each(cases)("EtcdSource ends at once %s, and leaves no connection open", async (_, disturb) => {
    const proxy = followed.proxyTo(server);
    const source = await followed.follow({ addresses: [proxy.endpoint], namespace });
    disturb(proxy);
    await put("MIX:a:1", "a");
    await followed.stopsWithin(1000, source);
    await eventually("the socket is closed", () => proxy.connectionCount === 0, 1000);
    await put("MIX:b:1", "b");
    expect(followed.registrar.calls).not.toContain("put MIX b:1 b");
  });

  test("EtcdSource ends at once while it waits for a first answer", async () => {
    const proxy = followed.proxyTo(server);
    proxy.goSilent();
    const source = followed.create({ addresses: [proxy.endpoint], namespace });
    source.start();
    await eventually("it asks", () => proxy.connectionCount === 1);
    await followed.stopsWithin(1000, source);
    await eventually("the socket is closed", () => proxy.connectionCount === 0, 1500);
  });

  test("EtcdSource that was never started stops", async () => {
    await followed.stopsWithin(1000, followed.create({ addresses: [server.endpoint], namespace }));
  });
});
