import { describe, expect, test } from "bun:test";
import { troubleOf, WatchEndedError } from "../../../src/fleet/etcd/errors.ts";
import { registryRange } from "../../../src/fleet/etcd/keys.ts";

const RANGE = registryRange("/a/");

describe("troubleOf", () => {
  test.each([
    [
      "3 INVALID_ARGUMENT: etcdserver: authentication failed, invalid user ID or password",
      "credentials",
      'etcd refuses user "warmpath": check that it exists and that ETCD_USERNAME and ETCD_PASSWORD are right',
    ],
    [
      "3 INVALID_ARGUMENT: etcdserver: user name is empty",
      "credentials",
      "etcd asks for a user: set ETCD_USERNAME and ETCD_PASSWORD",
    ],
    [
      "rpc error: code = PermissionDenied desc = etcdserver: permission denied",
      "permission",
      'user "warmpath" may not read the keys from "/a/XLLM:D" to "/a/XLLM:Q": grant its role read on that range',
    ],
    ["14 UNAVAILABLE: Connection dropped", "unreachable", "14 UNAVAILABLE: Connection dropped"],
  ] as const)("troubleOf takes %j for trouble of the kind %j", (message, kind, sentence) => {
    expect(troubleOf(new Error(message), "warmpath", RANGE)).toEqual({ kind, sentence });
  });

  test("troubleOf takes whatever was thrown", () => {
    expect(troubleOf("no error at all", null, RANGE)).toEqual({ kind: "unreachable", sentence: "no error at all" });
    const sentence = "Cannot go on with the watch: etcd ended it";
    expect(troubleOf(new WatchEndedError("etcd ended it"), null, RANGE)).toEqual({ kind: "unreachable", sentence });
  });
});
