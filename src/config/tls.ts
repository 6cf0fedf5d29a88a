/** The certificate and the key that HTTPS is served with. They are read and checked once, at start. */

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { Problem } from "./errors.ts";
import { flagName } from "./settings.ts";
import type { SettledSettings } from "./settle-settings.ts";
import { readTextFile } from "./text-file.ts";

/** Both as PEM. */
export interface TlsIdentity {
  /** The server's certificate, and those of its issuers behind it. */
  cert: string;
  /** Its private key: in no message, log line or answer. */
  key: string;
}

type TlsSetting = "tls_cert" | "tls_key";

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Null where neither file is named. One without the other, or two that do not go together, is a problem. */
export async function readTls({ settings, sources }: SettledSettings): Promise<{ tls: TlsIdentity | null; problems: Problem[] }> {
  const { tls_cert: certPath = "", tls_key: keyPath = "" } = settings;
  const name = (setting: TlsSetting) => sources.get(setting) ?? flagName(setting);
  if (certPath === "" && keyPath === "") return { tls: null, problems: [] };
  if (certPath === "" || keyPath === "") {
    const [missing, present] = certPath === "" ? (["tls_cert", "tls_key"] as const) : (["tls_key", "tls_cert"] as const);
    const needed = `the path of a PEM file, since ${name(present)} has one: both or neither`;
    return { tls: null, problems: [{ setting: name(missing), found: "nothing", needed }] };
  }

  const [cert, key] = await Promise.all([readPem(certPath, parseCertificate), readPem(keyPath, parseKey)]);
  const problems: Problem[] = [];
  if (cert.found !== null) {
    problems.push({ setting: name("tls_cert"), found: cert.found, needed: "a PEM file with the server's certificate" });
  }
  if (key.found !== null) {
    const needed = "a PEM file with the certificate's private key, without passphrase";
    problems.push({ setting: name("tls_key"), found: key.found, needed });
  }
  if (cert.found !== null || key.found !== null) return { tls: null, problems };
  if (!cert.content.checkPrivateKey(key.content)) {
    const found = `${JSON.stringify(keyPath)}, the key of another certificate`;
    const needed = `the key of the certificate in ${JSON.stringify(certPath)}`;
    return { tls: null, problems: [{ setting: name("tls_key"), found, needed }] };
  }
  return { tls: { cert: cert.text, key: key.text }, problems: [] };
}

/** A file and what it holds; or, as a problem says it, what was found instead. */
type PemFile<Content> = { text: string; content: Content; found: null } | { found: string };

/** `parse` gives the content, or a sentence about the file that says what is wrong with it. */
async function readPem<Content extends object>(
  path: string,
  parse: (text: string) => Content | string,
): Promise<PemFile<Content>> {
  const { text, found } = await readTextFile(path);
  if (found !== null) return { found };
  const content = parse(text);
  return typeof content === "string" ? { found: `${JSON.stringify(path)}, ${content}` } : { text, content, found: null };
}

/** The first certificate, which is the server's; the others must be readable as well. */
function parseCertificate(text: string): X509Certificate | string {
  try {
    const [first] = (text.match(CERTIFICATES) ?? []).map((pem) => new X509Certificate(pem));
    return first ?? "in which there is no certificate";
  } catch {
    return "in which a certificate cannot be read";
  }
}

function parseKey(text: string): KeyObject | string {
  try {
    return createPrivateKey(text);
  } catch (error) {
    const isEncrypted = (error as NodeJS.ErrnoException).code === "ERR_MISSING_PASSPHRASE";
    return isEncrypted ? "in which the key is encrypted" : "in which there is no private key";
  }
}
