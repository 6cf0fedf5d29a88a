import { expect, test } from "bun:test";
import { type Config, ConfigError, loadConfig } from "#config";
import { configFile } from "./config-file.ts";

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
    internalApiToken: "",
    kvEventsConfigFile: "",
    kvEvents: {
      maxStreams: 128,
      maxBlocksPerStream: 262144,
      maxMessageBytes: 8388608,
      maxBufferedBytes: 16777216,
      replayTimeoutMs: 2000,
      resyncIntervalMs: 30000,
      discovery: null,
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
    "--hots: found an unknown flag, needed one of --host, --http-server-port, --internal-api-token, --kv-events-config-file, --help",
    'WARMPATH_HTTP_SERVER_PORT: found "http", needed an integer from 0 to 65535',
    `max_streams in ${file}: found "many", needed an integer from 1 to 128`,
    `resync_interval_ms in ${file}: found 999, needed an integer from 1000 to 3600000`,
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
