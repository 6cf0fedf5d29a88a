import { afterAll, expect, test } from "bun:test";
import { type Config, ConfigError, loadConfig } from "#config";
import { configFile, removeConfigFiles } from "./config-file.ts";

afterAll(removeConfigFiles);

const SECRET_KEY = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";

test.each(["", "\n", "\r\n"])("loadConfig reads a CURVE key from its file, with %j behind it", async (end) => {
  const path = await configFile(SECRET_KEY + end);
  const config = (await loadConfig(["--curve-secret-key-file", path], {})) as Config;
  expect(config.curveSecretKey).toBe(SECRET_KEY);
  expect(config).not.toHaveProperty("curveSecretKeyFile");
});

test.each(["", SECRET_KEY.slice(1), `secret-key = "${SECRET_KEY}"`])(
  "loadConfig refuses a file that holds no CURVE key, and does not repeat it: %j",
  async (content) => {
    const path = await configFile(content);
    const error: unknown = await loadConfig([], { WARMPATH_CURVE_SECRET_KEY_FILE: path }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).problems).toEqual([
      `WARMPATH_CURVE_SECRET_KEY_FILE: found ${JSON.stringify(path)} with a content that is not shown, needed a file with a secret CURVE key and nothing else, 40 characters of Z85`,
    ]);
  },
);

test("loadConfig refuses a CURVE key's file that is missing", async () => {
  const error: unknown = await loadConfig(["--curve-secret-key-file=/nonexistent"], {}).catch((error: unknown) => error);
  expect((error as ConfigError).message).toContain('--curve-secret-key-file: found "/nonexistent" (ENOENT');
});
