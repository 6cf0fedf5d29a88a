import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** PEM texts of a certificate authority, of a server for 127.0.0.1 and api.test, and of a client. */
export interface Certificates {
  ca: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

/** Made with openssl in a directory that is gone afterwards; valid for a day. */
export function createCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), "warmpath-certificates-"));
  const file = (name: string) => join(directory, name);
  const read = (name: string) => readFileSync(file(name), "utf8");
  const openssl = (...parts: string[]) => {
    const { success, stderr } = Bun.spawnSync(["openssl", ...parts], { cwd: directory });
    if (!success) throw new Error(`Cannot run openssl ${parts[0]}: ${stderr}`);
  };
  const newKey = (name: string) => openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", `${name}.key`);
  const signed = (name: string, extension: string) => {
    newKey(name);
    writeFileSync(file("extension"), extension);
    openssl("req", "-new", "-key", `${name}.key`, "-subj", `/CN=${name}`, "-out", "request");
    const authority = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"];
    openssl("x509", "-req", "-in", "request", ...authority, "-days", "1", "-extfile", "extension", "-out", `${name}.crt`);
    return { cert: read(`${name}.crt`), key: read(`${name}.key`) };
  };
  try {
    newKey("ca");
    openssl("req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=ca", "-days", "1", "-out", "ca.crt");
    return {
      ca: read("ca.crt"),
      server: signed("server", "subjectAltName=IP:127.0.0.1,DNS:api.test"),
      client: signed("client", "extendedKeyUsage=clientAuth"),
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
