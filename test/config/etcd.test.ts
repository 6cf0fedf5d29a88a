import { expect, test } from "bun:test";
import { etcdKeyPrefix, parseEtcdAddresses } from "../../src/config/etcd.ts";
import { etcdCredentials } from "../../src/config/etcd-credentials.ts";

test.each([
  ["", []],
  ["etcd:2379", ["http://etcd:2379"]],
  ["0.0.0.0:1", ["http://0.0.0.0:1"]],
  ["[::1]:65535", ["http://[::1]:65535"]],
  ["http://Etcd-0.etcd:2379", ["http://Etcd-0.etcd:2379"]],
  ["b:2379,http://a:2379,10.0.0.5:02379", ["http://b:2379", "http://a:2379", "http://10.0.0.5:02379"]],
  ["https://a:2379,https://b:2379", ["https://a:2379", "https://b:2379"]],
])("parseEtcdAddresses reads %j", (text, addresses) => {
  expect(parseEtcdAddresses(text)).toEqual(addresses);
});

test.each([
  "etcd",
  "etcd:",
  ":2379",
  "etcd:0",
  "etcd:65536",
  "etcd:123456",
  "etcd:-1",
  "::1:2379",
  "[::1:2379",
  "[1::2::3]:2379",
  "10.0.0.256:2379",
  "tcp://etcd:2379",
  "HTTPS://etcd:2379",
  "http://etcd:2379/",
  "http://user:secret@etcd:2379",
  "a:1,",
  ",a:1",
  "a:1,,b:1",
  "a:1, b:1",
  "a:1;b:1",
  "a:1\n",
  " ",
  "https://a:1,b:1",
  "http://a:1,https://b:1",
])("parseEtcdAddresses refuses %j", (text) => {
  expect(parseEtcdAddresses(text)).toBeNull();
});

test.each([
  ["", ""],
  ["/", ""],
  ["///", ""],
  ["a", "/a/"],
  ["/a", "/a/"],
  ["a/", "/a/"],
  ["/a/", "/a/"],
  ["//a//", "/a/"],
  ["/a/b", "/a/b/"],
])("etcdKeyPrefix makes namespace %j the prefix %j", (namespace, prefix) => {
  expect(etcdKeyPrefix(namespace)).toBe(prefix);
});

test("etcdCredentials takes both variables", () => {
  const environment = { ETCD_USERNAME: "warmpath", ETCD_PASSWORD: " s3cret\n" };
  expect(etcdCredentials(environment)).toEqual({
    credentials: { username: "warmpath", password: " s3cret\n" },
    problems: [],
  });
});

test.each([{}, { ETCD_USERNAME: undefined }, { ETCD_USERNAME: "", ETCD_PASSWORD: "" }])(
  "etcdCredentials finds none in %j",
  (environment) => {
    expect(etcdCredentials(environment)).toEqual({ credentials: null, problems: [] });
  },
);

test.each([
  [{ ETCD_USERNAME: "hidden" }, "ETCD_PASSWORD", "ETCD_USERNAME"],
  [{ ETCD_USERNAME: "hidden", ETCD_PASSWORD: "" }, "ETCD_PASSWORD", "ETCD_USERNAME"],
  [{ ETCD_PASSWORD: "hidden" }, "ETCD_USERNAME", "ETCD_PASSWORD"],
])("etcdCredentials names the variable that is missing in %j and no value", (environment, missing, present) => {
  expect(etcdCredentials(environment)).toEqual({
    credentials: null,
    problems: [{ setting: missing, found: "nothing", needed: `a value, since ${present} has one: both or neither` }],
  });
});
