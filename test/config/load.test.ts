import { afterAll, expect, test } from "bun:test";
import { type Config, ConfigError, loadConfig } from "#config";
import { configFile, removeConfigFiles } from "./config-file.ts";

afterAll(removeConfigFiles);

async function load(args: string[], environment: Record<string, string | undefined> = {}): Promise<Config> {
  const config = await loadConfig(args, environment);
  if (config === "help") throw new Error("help was not asked for");
  return config;
}

async function problems(args: string[], environment: Record<string, string | undefined> = {}): Promise<readonly string[]> {
  const error = await loadConfig(args, environment).then(
    () => null,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems;
}

test("loadConfig without flags, environment and file gives every default", async () => {
  expect(await load([])).toEqual({
    host: "127.0.0.1",
    httpServerPort: 8888,
    tls: null,
    internalApiToken: "",
    logFormat: "auto",
    logLevel: "info",
    loadBalancePolicy: "CAR",
    carPrefillLambda: 0.5,
    carHostHitWeight: 0.5,
    carDiskHitWeight: 0.25,
    targetTtft: 1000,
    targetTpot: 50,
    trackInflight: false,
    predictResidencyMs: 0,
    etcdAddresses: [],
    etcdNamespace: "",
    etcdCredentials: null,
    kubernetesLabelSelector: "",
    kubernetesNamespace: "",
    instanceDeleteProbeTimeoutMs: 1000,
    instanceDeleteProbeAttempts: 2,
    leaseLostHeartbeatTimeoutMs: 3000,
    suspectTimeoutMs: 15000,
    loadReportMaxAgeMs: 10000,
    loadScrapeIntervalMs: 1000,
    kvEventsConfigFile: "",
    curveSecretKey: null,
    kvEvents: {
      maxStreams: 128,
      maxBlocksPerStream: 262144,
      maxMessageBytes: 8388608,
      maxBufferedBytes: 16777216,
      replayTimeoutMs: 2000,
      resyncIntervalMs: 30000,
      discovery: {
        enabled: false,
        blockSize: 128,
        topic: "",
        curveServerKey: null,
        eventPortOffset: 10000,
        replayPortOffset: 30000,
        refreshIntervalMs: 1000,
      },
      streams: [],
    },
  });
});

test("loadConfig prefers a flag to the environment and the environment to the default", async () => {
  const environment = { WARMPATH_HOST: "::1", WARMPATH_HTTP_SERVER_PORT: "0", WARMPATH_INTERNAL_API_TOKEN: undefined };
  expect(await load(["--http_server_port", "65535"], environment)).toMatchObject({
    host: "::1",
    httpServerPort: 65535,
    internalApiToken: "",
  });
});

test("loadConfig does not judge what a flag overrides", async () => {
  expect((await load(["--http-server-port=1"], { WARMPATH_HTTP_SERVER_PORT: "none" })).httpServerPort).toBe(1);
});

test("loadConfig ignores variables that are no setting", async () => {
  expect((await load([], { WARMPATH_LIBZMQ: "/lib/libzmq.so.5", HOST: "a", warmpath_host: "b" })).host).toBe("127.0.0.1");
});

test("loadConfig asks for help without looking at the rest", async () => {
  expect(await loadConfig(["--kv-events-config-file", "/nonexistent", "-h"], { WARMPATH_HOST: "" })).toBe("help");
});

test("loadConfig reads the file that the environment names", async () => {
  const path = await configFile('{"max_streams": 7}');
  const config = await load([], { WARMPATH_KV_EVENTS_CONFIG_FILE: path });
  expect(config.kvEventsConfigFile).toBe(path);
  expect(config.kvEvents.maxStreams).toBe(7);
});

test.each([
  ["70000", '"70000"'],
  ["-1", '"-1"'],
  ["8888.5", '"8888.5"'],
  ["8e3", '"8e3"'],
  ["0x10", '"0x10"'],
  [" 80", '" 80"'],
  ["", '""'],
])("loadConfig refuses port %j by flag and by environment", async (text, found) => {
  const rest = `found ${found}, needed an integer from 0 to 65535`;
  expect(await problems([`--http-server-port=${text}`])).toEqual([`--http-server-port: ${rest}`]);
  expect(await problems([], { WARMPATH_HTTP_SERVER_PORT: text })).toEqual([`WARMPATH_HTTP_SERVER_PORT: ${rest}`]);
});

test.each([
  ["0", 0],
  ["1", 1],
  ["0.5", 0.5],
  ["1e-1", 0.1],
  ["0.25E+0", 0.25],
])("loadConfig reads number %j by flag and by environment", async (text, number) => {
  expect((await load([`--car-prefill-lambda=${text}`])).carPrefillLambda).toBe(number);
  expect((await load([], { WARMPATH_CAR_PREFILL_LAMBDA: text })).carPrefillLambda).toBe(number);
});

test.each(["", "NaN", "Infinity", "0x1", "+0.5", ".5", "1.", "00.5", " 0.5", "0,5", "half", "1e400", "-0.1", "1.01", "1e"])(
  "loadConfig refuses number %j by flag and by environment",
  async (text) => {
    const rest = `found ${JSON.stringify(text)}, needed a number from 0 to 1`;
    expect(await problems([`--car-prefill-lambda=${text}`])).toEqual([`--car-prefill-lambda: ${rest}`]);
    expect(await problems([], { WARMPATH_CAR_PREFILL_LAMBDA: text })).toEqual([`WARMPATH_CAR_PREFILL_LAMBDA: ${rest}`]);
  },
);

test.each(["CAR", "RR", "SLO_AWARE"])("loadConfig takes policy %j", async (policy) => {
  expect((await load(["--load-balance-policy", policy])).loadBalancePolicy).toBe(policy as Config["loadBalancePolicy"]);
});

test.each(["", "car", "LEAST_LOADED"])("loadConfig refuses policy %j and lists those that there are", async (policy) => {
  expect(await problems([`--load_balance_policy=${policy}`])).toEqual([
    `--load-balance-policy: found ${JSON.stringify(policy)}, needed "CAR" or "RR" or "SLO_AWARE"`,
  ]);
});

test("loadConfig reads what is true or false by flag and by environment", async () => {
  expect((await load(["--track-inflight"])).trackInflight).toBe(true);
  expect((await load(["--track-inflight", "false"], { WARMPATH_TRACK_INFLIGHT: "true" })).trackInflight).toBe(false);
  expect((await load([], { WARMPATH_TRACK_INFLIGHT: "true" })).trackInflight).toBe(true);
});

test.each(["", "1", "True", "yes"])("loadConfig refuses %j for true or false", async (text) => {
  expect(await problems([], { WARMPATH_TRACK_INFLIGHT: text })).toEqual([
    `WARMPATH_TRACK_INFLIGHT: found ${JSON.stringify(text)}, needed true or false`,
  ]);
});

test("loadConfig refuses an empty host", async () => {
  expect(await problems([], { WARMPATH_HOST: "" })).toEqual(['WARMPATH_HOST: found "", needed a nonempty string']);
});

test.each(["two words", "ends in a newline\n", "schlüssel"])(
  "loadConfig refuses token %j and does not repeat it",
  async (token) => {
    expect(await problems(["--internal-api-token", token])).toEqual([
      "--internal-api-token: found a secret that is not shown, needed printable ASCII characters without spaces",
    ]);
  },
);

const ETCD_ADDRESSES =
  "host:port or http(s)://host:port with a port from 1 to 65535, several with commas between (all https or none), or nothing";

test("loadConfig gives etcd's addresses and key prefix ready for use, and no second spelling of the addresses", async () => {
  const config = await load(["--etcd_addr=a:2379,http://b:2379", "--etcd_namespace", "fleet/"]);
  expect(config).toMatchObject({ etcdAddresses: ["http://a:2379", "http://b:2379"], etcdNamespace: "/fleet/" });
  expect(config).not.toHaveProperty("etcdAddr");
});

test("loadConfig refuses an address of etcd without a port, and a namespace that ends in a newline", async () => {
  expect(await problems(["--etcd-addr", "etcd"], { WARMPATH_ETCD_NAMESPACE: "a\n" })).toEqual([
    `--etcd-addr: found "etcd", needed ${ETCD_ADDRESSES}`,
    'WARMPATH_ETCD_NAMESPACE: found "a\\n", needed text without control characters; "a" and "/a/" both mean the key prefix "/a/"',
  ]);
});

test.each([
  ["http://user:s3cret@etcd:2379", "http://***@etcd:2379"],
  ["user:s3cret@etcd:2379", "***@etcd:2379"],
  ["http://user:s3c@ret/@etcd:2379", "http://***@etcd:2379"],
  ["http://user:s3cret@a:1,http://user:s3cret@b:1", "http://***@b:1"],
  ["HTTPS://user:s3cret\n@etcd", "HTTPS://***@etcd"],
])("loadConfig refuses etcd address %j and shows it as %j", async (address, shown) => {
  const rest = `found ${JSON.stringify(shown)}, needed ${ETCD_ADDRESSES}`;
  expect(await problems(["--etcd-addr", address])).toEqual([`--etcd-addr: ${rest}`]);
  expect(await problems([], { WARMPATH_ETCD_ADDR: address })).toEqual([`WARMPATH_ETCD_ADDR: ${rest}`]);
});

test("loadConfig takes credentials for etcd from the environment", async () => {
  const environment = { ETCD_USERNAME: "warmpath", ETCD_PASSWORD: "s3cret" };
  expect((await load(["--etcd-addr", "etcd:2379"], environment)).etcdCredentials).toEqual({
    username: "warmpath",
    password: "s3cret",
  });
});

test("loadConfig refuses half of the credentials for etcd, also when the address is wrong", async () => {
  const login = "ETCD_USERNAME: found nothing, needed a value, since ETCD_PASSWORD has one: both or neither";
  expect(await problems(["--etcd-addr", "etcd:2379"], { ETCD_PASSWORD: "s3cret" })).toEqual([login]);
  expect(await problems([], { WARMPATH_ETCD_ADDR: "etcd", ETCD_PASSWORD: "s3cret" })).toEqual([
    `WARMPATH_ETCD_ADDR: found "etcd", needed ${ETCD_ADDRESSES}`,
    login,
  ]);
});

test.each([{ ETCD_USERNAME: "warmpath", ETCD_PASSWORD: "s3cret" }, { ETCD_PASSWORD: "s3cret" }])(
  "loadConfig ignores credentials for etcd without etcd",
  async (environment) => {
    expect((await load([], environment)).etcdCredentials).toBeNull();
  },
);

test.each(["app=vllm\n", "app=\u0000"])("loadConfig refuses label selector %j", async (selector) => {
  expect(await problems(["--kubernetes-label-selector", selector])).toEqual([
    `--kubernetes-label-selector: found ${JSON.stringify(selector)}, needed a label selector without control characters, or nothing`,
  ]);
});

test("loadConfig leaves the rest of a label selector to the API server", async () => {
  const selector = "app in (vllm, sglang),!test,tier!=a";
  expect((await load([], { WARMPATH_KUBERNETES_LABEL_SELECTOR: selector })).kubernetesLabelSelector).toBe(selector);
});

test.each(["Team", "-a", "a-", "a.b", "a\n", "a".repeat(64)])("loadConfig refuses Kubernetes namespace %j", async (name) => {
  expect(await problems(["--kubernetes-namespace", name])).toEqual([
    `--kubernetes-namespace: found ${JSON.stringify(name)}, needed the name of a Kubernetes namespace, or nothing`,
  ]);
});

test("loadConfig refuses a file that is missing, a folder or not UTF-8", async () => {
  const needed = "needed the path of a readable UTF-8 file";
  expect(await problems(["--kv-events-config-file=/nonexistent.json"])).toEqual([
    `kv_events_config_file: found "/nonexistent.json" (ENOENT: no such file or directory, open '/nonexistent.json'), ${needed}`,
  ]);
  expect(await problems(["--kv-events-config-file=/"])).toEqual([
    `kv_events_config_file: found "/" (EISDIR: illegal operation on a directory, read), ${needed}`,
  ]);
  const path = await configFile(new Uint8Array([0x7b, 0xff, 0x7d]));
  const [problem, ...others] = await problems([], { WARMPATH_KV_EVENTS_CONFIG_FILE: path });
  expect(others).toEqual([]);
  expect(problem).toStartWith(`kv_events_config_file: found ${JSON.stringify(path)} (`);
  expect(problem).toEndWith(`), ${needed}`);
});

test("loadConfig reads past a byte order mark", async () => {
  const path = await configFile('\ufeff{"max_streams": 7}');
  expect((await load(["--kv-events-config-file", path])).kvEvents.maxStreams).toBe(7);
});

test("loadConfig names the file in each of its problems", async () => {
  const path = await configFile('{"max_streams": 0}');
  expect(await problems(["--kv-events-config-file", path])).toEqual([
    `max_streams in ${JSON.stringify(path)}: found 0, needed an integer from 1 to 128`,
  ]);
  const notObject = await configFile("[]");
  expect(await problems(["--kv-events-config-file", notObject])).toEqual([
    `${JSON.stringify(notObject)}: found an array, needed an object`,
  ]);
});

test("loadConfig reports flags, environment and file together", async () => {
  const path = await configFile('{"max_streams": "many", "resync_interval_ms": 999}');
  const file = JSON.stringify(path);
  expect(await problems(["--hots=a", "--kv-events-config-file", path], { WARMPATH_HTTP_SERVER_PORT: "http" })).toEqual([
    "--hots: found an unknown flag, needed one that --help lists (did you mean --host?)",
    'WARMPATH_HTTP_SERVER_PORT: found "http", needed an integer from 0 to 65535',
    `max_streams in ${file}: found "many", needed an integer from 1 to 128`,
    `resync_interval_ms in ${file}: found 999, needed an integer from 1000 to 3600000`,
  ]);
});

test("loadConfig reports what does not fit together beside what is wrong by itself", async () => {
  expect(await problems(["--car-disk-hit-weight", "0.75", "--target-ttft", "0"])).toEqual([
    '--target-ttft: found "0", needed an integer from 1 to 3600000',
    "--car-disk-hit-weight: found 0.75, needed at most car_host_hit_weight 0.5",
  ]);
});

test("ConfigError is one block with a line for each problem", () => {
  const error = new ConfigError([
    { setting: "--host", found: '""', needed: "a nonempty string" },
    { setting: "streams", found: "2 beside discovery", needed: "either discovery or streams" },
  ]);
  expect(error.message).toBe(
    'Cannot accept the configuration:\n  --host: found "", needed a nonempty string\n  streams: found 2 beside discovery, needed either discovery or streams',
  );
  expect(error.problems).toHaveLength(2);
});
