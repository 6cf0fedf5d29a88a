import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { openLibzmq } from "../../../src/wire/libzmq/binding.ts";
import { memoryFile, privateFile } from "../../../src/wire/libzmq/embedded.ts";
import { loadLibzmq } from "../../../src/wire/libzmq/locate.ts";

const SOURCE = new URL("../../../src/wire/libzmq/embedded.ts", import.meta.url).pathname;

const { path, version } = loadLibzmq();

describe("memoryFile", () => {
  test.skipIf(process.platform !== "linux")("memoryFile makes a file that loads as libzmq", () => {
    const file = memoryFile(readFileSync(path));
    expect(file).toStartWith("/proc/self/fd/");
    expect(openLibzmq(file).version).toEqual(version);
  });
});

describe("privateFile", () => {
  test("privateFile makes a file that loads as libzmq, which nobody else may enter or change", () => {
    const file = privateFile(readFileSync(path));
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o500);
    expect(openLibzmq(file).version).toEqual(version);
    rmSync(dirname(file), { recursive: true });
  });

  test("privateFile leaves nothing behind when the process ends", () => {
    const program = `import { privateFile } from ${JSON.stringify(SOURCE)};
      console.log(privateFile(Uint8Array.of(1)));
      process.exit(0);`;
    const { stdout } = Bun.spawnSync([process.execPath, "-e", program]);
    const file = stdout.toString().trim();
    expect(file).toEndWith("/libzmq");
    expect(existsSync(dirname(file))).toBe(false);
  });
});
