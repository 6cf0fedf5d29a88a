import { expect, test } from "bun:test";
import { canonicalEndpoint } from "#domain";

test.each([
  ["tcp://10.0.0.5:5557", "tcp://10.0.0.5:5557"],
  ["tcp://P-3.Engines:05557", "tcp://p-3.engines:5557"],
  ["tcp://engine_1:80", "tcp://engine_1:80"],
  ["tcp://[0:0:0:0:0:0:0:1]:1", "tcp://[::1]:1"],
  ["tcp://[FE80::5]:65535", "tcp://[fe80::5]:65535"],
])("canonicalEndpoint spells %s as %s", (text, canonical) => {
  expect(canonicalEndpoint(text)).toBe(canonical);
});

test.each([
  "",
  "10.0.0.5:5557",
  "ipc:///tmp/events",
  "TCP://a:1",
  "tcp://a",
  "tcp://a:",
  "tcp://:1",
  "tcp://a:0",
  "tcp://a:65536",
  "tcp://a:-1",
  "tcp://a:1/path",
  " tcp://a:1",
  "tcp://a:1\n",
  "tcp://user@a:1",
  "tcp://10.0.0.256:1",
  "tcp://::1:1",
  "tcp://[::1:1",
  "tcp://[:::]:1",
])("canonicalEndpoint refuses %j, which is no endpoint", (text) => {
  expect(canonicalEndpoint(text)).toBeNull();
});

test.each(["tcp://*:1", "tcp://0.0.0.0:1", "tcp://0:1", "tcp://:::1", "tcp://[::]:1", "tcp://[0:0::0]:1", "tcp://a:*"])(
  "canonicalEndpoint refuses %s, which is every interface or every port",
  (text) => {
    expect(canonicalEndpoint(text)).toBeNull();
  },
);
