/** Where and of what a run was: without it a figure means nothing. */

import { cpus } from "node:os";

export interface Machine {
  cpu: string;
  cores: number;
  bun: string;
  /** Short hash, with "+changes" when the tree differs from it; "none" outside of a repository. */
  commit: string;
}

export function describeMachine(): Machine {
  const processors = cpus();
  return { cpu: processors[0]?.model ?? "unknown", cores: processors.length, bun: Bun.version, commit: describeCommit() };
}

function describeCommit(): string {
  const hash = runGit(["rev-parse", "--short", "HEAD"]);
  if (hash === null) return "none";
  return runGit(["status", "--porcelain"]) === "" ? hash : `${hash}+changes`;
}

function runGit(args: string[]): string | null {
  if (Bun.which("git") === null) return null;
  const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: import.meta.dir, stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}
