/**
 * The libzmq inside the single executable, as a file that the loader takes. Best is one in memory, which needs neither a writable
 * nor an executable file system; else a private copy on disk. Each is made once in a process: the thread that makes it hands its
 * path to those that are started later, for they must load the same file.
 */

import { dlopen, FFIType } from "bun:ffi";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";

/** A file that may be libzmq; it exists once `path` has been asked for, which throws when it cannot be made. */
export interface LibzmqCandidate {
  name: string;
  path: () => string;
}

/** Where scripts/build.ts puts it: beside all modules of the executable. */
const EMBEDDED = fileURLToPath(new URL("./addon.node", import.meta.url));

/** From linux/memfd.h: the file is not handed to programs that this one starts. */
const MFD_CLOEXEC = 1;

/** Best first. Only within the single executable. */
export function embeddedCandidates(): LibzmqCandidate[] {
  const inMemory = { name: `${EMBEDDED} in memory`, path: () => oncePerProcess("libzmq in memory", memoryFile) };
  const onDisk = { name: `${EMBEDDED} copied`, path: () => oncePerProcess("libzmq copied", privateFile) };
  return process.platform === "linux" ? [inMemory, onDisk] : [onDisk];
}

function oncePerProcess(key: string, make: (content: Uint8Array) => string): string {
  const known = getEnvironmentData(key);
  if (typeof known === "string") return known;
  const path = make(readFileSync(EMBEDDED));
  setEnvironmentData(key, path);
  return path;
}

/** A file in memory, by its path; it stays until the process ends. Linux with glibc; throws elsewhere. */
export function memoryFile(content: Uint8Array): string {
  const { memfd_create: create } = dlopen("libc.so.6", {
    memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  }).symbols;
  const descriptor = create(Buffer.from("warmpath-libzmq\0"), MFD_CLOEXEC);
  if (descriptor < 0) throw new Error("Cannot make a file in memory: memfd_create is refused");
  writeFileSync(descriptor, content);
  return `/proc/self/fd/${descriptor}`;
}

/** A file in a new folder that only this user enters, by its path; removed when the process ends by itself. Throws Node's errors. */
export function privateFile(content: Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "warmpath-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "libzmq");
  writeFileSync(path, content, { mode: 0o500 });
  return path;
}
