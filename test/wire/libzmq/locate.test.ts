import { describe, expect, test } from "bun:test";
import { LibzmqNotFoundError } from "#wire";
import { LIBZMQ_VARIABLE, loadLibzmq, locateLibzmq, orderBuilds } from "../../../src/wire/libzmq/locate.ts";

function errorOf(locate: () => unknown): LibzmqNotFoundError {
  try {
    locate();
  } catch (error) {
    if (error instanceof LibzmqNotFoundError) return error;
    throw error;
  }
  throw new Error("A libzmq was found where none should be");
}

describe("locateLibzmq", () => {
  test("locateLibzmq finds a libzmq on this machine, 4.2 or newer", () => {
    const [major, minor] = loadLibzmq().version;
    expect(major * 100 + minor).toBeGreaterThanOrEqual(402);
  });

  test("locateLibzmq takes the first candidate that loads", () => {
    const tried: string[] = [];
    const located = locateLibzmq(undefined, (path) => {
      tried.push(path);
      if (tried.length < 3) throw new Error("no");
      return { ...loadLibzmq(), path };
    });
    expect(tried).toHaveLength(3);
    expect(located.path).toBe(tried[2]);
  });

  test("locateLibzmq tries nothing but the path that is set", () => {
    const error = errorOf(() => locateLibzmq("/nowhere/libzmq.so.5"));
    expect(error.attempts).toHaveLength(1);
    expect(error.message).toStartWith(`Cannot load libzmq: 1 tried and none serves, set ${LIBZMQ_VARIABLE} to`);
    expect(error.message).toContain('\n  "/nowhere/libzmq.so.5": cannot open shared object file');
  });

  test("locateLibzmq says of a library that is not libzmq which function it lacks", () => {
    const other = process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6";
    expect(errorOf(() => locateLibzmq(other)).message).toContain('"zmq_version"');
  });

  test("locateLibzmq refuses a version before 4.2", () => {
    const error = errorOf(() => locateLibzmq("/old", () => ({ ...loadLibzmq(), version: [4, 1, 8] })));
    expect(error.attempts).toEqual([{ path: "/old", reason: "version 4.1.8, at least 4.2 is needed" }]);
  });

  test("locateLibzmq lists every path tried, the system's last", () => {
    const error = errorOf(() =>
      locateLibzmq(undefined, () => {
        throw new Error("no");
      }),
    );
    expect(error.attempts.length).toBeGreaterThan(2);
    expect(error.attempts.at(0)?.path).toContain("zeromq/build/");
    expect(error.attempts.at(-1)?.path).toContain("libzmq");
    for (const { path } of error.attempts) expect(path).toStartWith("/"); // else one in the current folder would do
    for (const { path } of error.attempts) expect(error.message).toContain(`\n  ${JSON.stringify(path)}: no`);
  });
});

describe("orderBuilds", () => {
  test("orderBuilds prefers this C library, then unnamed ones, and in each the newest ABI", () => {
    const names = ["64", "musl-127-Release", "glibc-72-Release", "115", "glibc-127-Release", "glibc-115-Release"];
    expect(orderBuilds(names, "glibc")).toEqual([
      "glibc-127-Release",
      "glibc-115-Release",
      "glibc-72-Release",
      "115",
      "64",
      "musl-127-Release",
    ]);
    expect(orderBuilds(names, "musl")[0]).toBe("musl-127-Release");
  });
});
