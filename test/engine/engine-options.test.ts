import { expect, test } from "bun:test";
import { parseEngineOptions } from "../../scripts/engine/engine-options.ts";

test("parseEngineOptions puts the sockets where xLLM's engines have them", () => {
  expect(parseEngineOptions(["--name", "engine-1:8000"])).toMatchObject({
    name: "engine-1:8000",
    host: "engine-1",
    httpPort: 8000,
    eventPort: 18_000,
    replayPort: 38_000,
    bind: "127.0.0.1",
    etcdAddress: null,
  });
});

test("parseEngineOptions takes every flag", () => {
  const flags = ["--name=[::1]:9000", "--bind=[::1]", "--event-port=5557", "--replay-port=5558", "--block-size=16", "--topic=kv"];
  const more = ["--device-blocks=10", "--host-blocks=0", "--warmpath=https://warmpath:1", "--etcd-addr=etcd:2379"];
  expect(parseEngineOptions([...flags, ...more])).toEqual({
    name: "[::1]:9000",
    host: "[::1]",
    httpPort: 9000,
    eventPort: 5557,
    replayPort: 5558,
    bind: "[::1]",
    blockSize: 16,
    deviceBlocks: 10,
    hostBlocks: 0,
    topic: "kv",
    warmpathUrl: "https://warmpath:1",
    etcdAddress: "etcd:2379",
    isInDemo: false,
  });
});

test("parseEngineOptions gives an engine of the demo free ports of this machine, whatever its name says", () => {
  const options = parseEngineOptions(["--demo", "--name=engine-1:8000"]);
  expect(options).toMatchObject({ name: "engine-1:8000", host: "127.0.0.1", bind: "127.0.0.1", isInDemo: true });
  expect(options).toMatchObject({ httpPort: 0, eventPort: 0, replayPort: 0 });
});

test.each([
  [["--name", "engine"], '--name is "engine", host:port'],
  [["--name", "0.0.0.0:8000"], '--name is "0.0.0.0:8000", host:port'],
  [["--name", "engine:60000"], '--event-port is "70000"'],
  [["--block-size", "0"], '--block-size is "0", an integer from 1'],
  [["--device-blocks", "many"], '--device-blocks is "many"'],
  [["--warmpath", "warmpath"], '--warmpath is "warmpath", a URL'],
  [["--demo", "--event-port=5557"], "--event-port cannot be with --demo"],
  [["--demo", "--etcd-addr=etcd:2379"], "--etcd-addr cannot be with --demo"],
  [["--no-such-flag"], "--no-such-flag"],
])("parseEngineOptions refuses %j", (args, message) => {
  expect(() => parseEngineOptions(args)).toThrow(message);
});
