/** Far above what a command of these tests takes; the longest is the download of packages. */
const TIMEOUT_MS = 180_000;

/** Whether the command is there, and ends in time with exit code 0. */
export async function succeeds(...command: string[]): Promise<boolean> {
  try {
    const process = Bun.spawn(command, { stdout: "ignore", stderr: "ignore", timeout: TIMEOUT_MS });
    return (await process.exited) === 0;
  } catch {
    return false; // no such command
  }
}
