import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConfigError, loadConfig } from "#config";
import { type Certificates, createCertificates } from "../support/certificates.ts";
import { configFile, removeConfigFiles } from "./config-file.ts";

const NEEDED_CERT = "needed a PEM file with the server's certificate";
const NEEDED_KEY = "needed a PEM file with the certificate's private key, without passphrase";

describe("loadConfig and TLS", () => {
  let certificates: Certificates;
  let cert: string;
  let key: string;

  beforeAll(async () => {
    certificates = createCertificates();
    cert = await configFile(certificates.server.cert);
    key = await configFile(certificates.server.key);
  });

  afterAll(removeConfigFiles);

  const load = async (args: string[], environment: Record<string, string> = {}) => {
    const config = await loadConfig(args, environment);
    if (config === "help") throw new Error("help was not asked for");
    return config;
  };

  const refusal = async (args: string[], environment: Record<string, string> = {}) => {
    const error: unknown = await loadConfig(args, environment).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).not.toContain("BEGIN");
    return (error as ConfigError).problems;
  };

  const files = (certFile: string, keyFile: string) => ["--tls-cert", certFile, "--tls-key", keyFile];

  test("loadConfig reads certificate and key, and keeps no path beside them", async () => {
    const config = await load(["--tls-cert", cert], { WARMPATH_TLS_KEY: key });
    expect(config.tls).toEqual(certificates.server);
    expect(config).not.toHaveProperty("tlsKey");
  });

  test("loadConfig reads a certificate with its issuer's behind it", async () => {
    const chain = `${certificates.server.cert}${certificates.ca}`;
    expect((await load(files(await configFile(chain), key))).tls?.cert).toBe(chain);
  });

  test("loadConfig reads certificate and key from one file", async () => {
    const both = await configFile(certificates.server.key + certificates.server.cert);
    expect((await load(files(both, both))).tls).not.toBeNull();
  });

  test("loadConfig refuses one of the two without the other", async () => {
    const without = (missing: string, present: string) =>
      `${missing}: found nothing, needed the path of a PEM file, since ${present} has one: both or neither`;
    expect(await refusal(["--tls-cert", cert])).toEqual([without("--tls-key", "--tls-cert")]);
    expect(await refusal([], { WARMPATH_TLS_KEY: key })).toEqual([without("--tls-cert", "WARMPATH_TLS_KEY")]);
  });

  test("loadConfig refuses files that cannot be read, both at once", async () => {
    expect(await refusal(["--tls-cert=/nonexistent.pem"], { WARMPATH_TLS_KEY: "/" })).toEqual([
      `--tls-cert: found "/nonexistent.pem" (ENOENT: no such file or directory, open '/nonexistent.pem'), ${NEEDED_CERT}`,
      `WARMPATH_TLS_KEY: found "/" (EISDIR: illegal operation on a directory, read), ${NEEDED_KEY}`,
    ]);
  });

  test("loadConfig refuses a key in the place of a certificate, and the reverse", async () => {
    expect(await refusal(files(key, cert))).toEqual([
      `--tls-cert: found ${JSON.stringify(key)}, in which there is no certificate, ${NEEDED_CERT}`,
      `--tls-key: found ${JSON.stringify(cert)}, in which there is no private key, ${NEEDED_KEY}`,
    ]);
  });

  test("loadConfig refuses a broken certificate, also behind a good one", async () => {
    const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (const text of [broken, certificates.server.cert + broken]) {
      const path = await configFile(text);
      expect(await refusal(files(path, key))).toEqual([
        `--tls-cert: found ${JSON.stringify(path)}, in which a certificate cannot be read, ${NEEDED_CERT}`,
      ]);
    }
  });

  test("loadConfig refuses the key of another certificate", async () => {
    const other = await configFile(certificates.client.key);
    expect(await refusal(files(cert, other))).toEqual([
      `--tls-key: found ${JSON.stringify(other)}, the key of another certificate, needed the key of the certificate in ${JSON.stringify(cert)}`,
    ]);
  });

  test("loadConfig refuses a key with a passphrase, for which nobody could be asked", async () => {
    const command = ["openssl", "ec", "-in", key, "-aes256", "-passout", "pass:secret"];
    const encrypted = await configFile(Bun.spawnSync(command, { stderr: "ignore" }).stdout);
    expect(await refusal(files(cert, encrypted))).toEqual([
      `--tls-key: found ${JSON.stringify(encrypted)}, in which the key is encrypted, ${NEEDED_KEY}`,
    ]);
  });
});
