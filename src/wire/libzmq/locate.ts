/**
 * Finds a libzmq that loads: the one the operator names, else the one inside the single executable or the zeromq npm package's
 * prebuilt addons (they export the C API; which of them loads depends on the machine's C library, so each is tried), else the
 * system's. Deterministic: all threads of a process get the same file, which sharing a context needs.
 */

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Libzmq, openLibzmq } from "./binding.ts";
import { embeddedCandidates, type LibzmqCandidate } from "./embedded.ts";
import { type LibzmqAttempt, LibzmqNotFoundError } from "./errors.ts";

export const LIBZMQ_VARIABLE = "WARMPATH_LIBZMQ";

/** 4.2 is the first with heartbeats. */
const MINIMUM_VERSION = [4, 2] as const;

/** Where Debian has the libraries of this machine. */
const DEBIAN_FOLDER = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`;

/** Whole paths: of a bare name that no system folder has, Bun loads the file in the current folder, whoever put it there. */
const SYSTEM_PATHS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: [DEBIAN_FOLDER, "/usr/lib64", "/usr/lib", "/usr/local/lib"].map((folder) => join(folder, "libzmq.so.5")),
  darwin: ["/opt/homebrew/lib/libzmq.5.dylib", "/usr/local/lib/libzmq.5.dylib"],
};

let loaded: Libzmq | null = null;

/** This thread's libzmq, located on first use; throws LibzmqNotFoundError. */
export function loadLibzmq(): Libzmq {
  loaded ??= locateLibzmq(process.env[LIBZMQ_VARIABLE]);
  return loaded;
}

/** The first candidate that `open` loads. With `explicitPath` that is the only candidate. Throws LibzmqNotFoundError. */
export function locateLibzmq(explicitPath: string | undefined, open: (path: string) => Libzmq = openLibzmq): Libzmq {
  const attempts: LibzmqAttempt[] = [];
  for (const candidate of explicitPath ? [fileAt(explicitPath)] : listCandidates()) {
    let path = candidate.name;
    try {
      path = candidate.path();
      const library = open(path);
      if (isNewEnough(library.version)) return library;
      const reason = `version ${library.version.join(".")}, at least ${MINIMUM_VERSION.join(".")} is needed`;
      attempts.push({ path: candidate.name, reason });
    } catch (error) {
      attempts.push({ path: candidate.name, reason: describeLoadError(error, path) });
    }
  }
  throw new LibzmqNotFoundError(
    explicitPath
      ? `set ${LIBZMQ_VARIABLE} to a libzmq of this platform or unset it`
      : `install the npm package "zeromq" or the system's libzmq 5, or set ${LIBZMQ_VARIABLE} to the path of a libzmq`,
    attempts,
  );
}

function listCandidates(): LibzmqCandidate[] {
  const own = Bun.isStandaloneExecutable ? embeddedCandidates() : packageFiles().map(fileAt);
  return [...own, ...(SYSTEM_PATHS[process.platform] ?? []).map(fileAt)];
}

function fileAt(path: string): LibzmqCandidate {
  return { name: path, path: () => path };
}

function packageFiles(): string[] {
  const folder = packageBuildFolder();
  const builds = orderBuilds(folder ? listFolder(folder) : [], runtimeLibc());
  return builds.map((build) => join(folder ?? "", build, "addon.node"));
}

/**
 * Names of build folders, best first: the C library that this process runs on, then builds that do not name theirs, then
 * others; among equals the newest ABI first. `glibc-127-Release` names glibc and ABI 127, `115` only an ABI.
 */
export function orderBuilds(names: readonly string[], libc: string): string[] {
  const rank = (name: string) => (name.startsWith(`${libc}-`) ? 0 : /^\d/.test(name) ? 1 : 2);
  const abi = (name: string) => Number(/\d+/.exec(name)?.[0] ?? 0);
  return names.toSorted((one, other) => rank(one) - rank(other) || abi(other) - abi(one));
}

function packageBuildFolder(): string | null {
  try {
    const packageFolder = dirname(fileURLToPath(import.meta.resolve("zeromq/package.json")));
    return join(packageFolder, "build", process.platform, process.arch, "node");
  } catch {
    return null; // not installed: the system's library is left to try
  }
}

function runtimeLibc(): string {
  if (process.platform !== "linux") return "libc";
  return listFolder("/lib").some((name) => name.startsWith("ld-musl-")) ? "musl" : "glibc";
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // no such folder: nothing in it to try
  }
}

function isNewEnough([major, minor]: Libzmq["version"]): boolean {
  return major > MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor >= MINIMUM_VERSION[1]);
}

function describeLoadError(error: unknown, path: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(`Failed to open library "${path}": `, "").replace(`${path}: `, "");
}
