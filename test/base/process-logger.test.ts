import { expect, test } from "bun:test";
import { closeSync, fstatSync, openSync, readFileSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SCRIPT = new URL("./process-logger.process.ts", import.meta.url).pathname;
const TEXT = /^\S+Z (INFO |ERROR) (Change|Fault)/;
const COLOURED = { INFO: "\x1b[32mINFO \x1b[0m", ERROR: "\x1b[31mERROR\x1b[0m" };

type Run = { format?: string; level?: string; environment?: Record<string, string> };

const command = ({ format = "auto", level = "info" }: Run) => [process.execPath, SCRIPT, format, level];
const linesOf = (text: string) => text.split(/\r?\n/).filter((line) => line !== "");

/** The lines on standard error that is a pipe. */
async function throughPipe(run: Run): Promise<string[]> {
  const child = Bun.spawn(command(run), { env: { ...run.environment }, stdout: "inherit", stderr: "pipe" });
  const text = await child.stderr.text();
  expect(await child.exited).toBe(3);
  return linesOf(text);
}

async function onTerminal(run: Run): Promise<string[]> {
  const decoder = new TextDecoder();
  let text = "";
  const terminal = { cols: 500, rows: 50, data: (_terminal: Bun.Terminal, bytes: Uint8Array) => (text += decoder.decode(bytes)) };
  const child = Bun.spawn(command(run), { env: { ...run.environment }, terminal });
  expect(await child.exited).toBe(3);
  child.terminal?.close();
  return linesOf(text);
}

/** Into a file that systemd is said to have opened as the journal's stream, or another one. */
async function intoJournal(isItsStream: boolean): Promise<string[]> {
  const path = join(tmpdir(), `warmpath-log-${crypto.randomUUID()}`);
  const file = openSync(path, "w");
  const { dev, ino } = fstatSync(file, { bigint: true });
  const environment = { JOURNAL_STREAM: `${dev}:${isItsStream ? ino : ino + 1n}` };
  const child = Bun.spawn(command({}), { env: environment, stdout: "inherit", stderr: file });
  expect(await child.exited).toBe(3);
  closeSync(file);
  const lines = linesOf(readFileSync(path, "utf8"));
  unlinkSync(path);
  return lines;
}

test("The process's log is JSON on a pipe, each line an object", async () => {
  const lines = (await throughPipe({})).map((line) => JSON.parse(line));
  expect(lines[0]).toEqual({ time: expect.stringMatching(/^\d{4}-.*Z$/), level: "info", message: "Change", instance: "a:1" });
});

test("The process's log is text on a terminal, in colours unless NO_COLOR is set", async () => {
  const coloured = await onTerminal({});
  expect(coloured).toHaveLength(12);
  for (const line of coloured) {
    const word = line.includes("Fault") ? COLOURED.ERROR : COLOURED.INFO;
    expect(line).toContain(`Z ${word} `);
    expect(line.replace(word, "")).toBe(Bun.stripANSI(line.replace(word, "")));
  }
  for (const line of await onTerminal({ environment: { NO_COLOR: "1" } })) expect(line).toMatch(TEXT);
});

test("The process's log is text in the systemd journal, and JSON where only the variable was inherited", async () => {
  for (const line of await intoJournal(true)) expect(line).toMatch(TEXT);
  for (const line of await intoJournal(false)) expect(JSON.parse(line)).toMatchObject({ instance: "a:1" });
});

test("The process's log is in the format that is asked for wherever it goes, and without colours in JSON and on pipes", async () => {
  for (const line of await throughPipe({ format: "text" })) expect(line).toMatch(TEXT);
  for (const line of await onTerminal({ format: "json" })) expect(JSON.parse(line)).toMatchObject({ instance: "a:1" });
});

test("The process goes on when nobody reads its log any more", async () => {
  const unread = `"$0" "$@" 2>&1 >/dev/null | exec 0<&-; echo "\${PIPESTATUS[0]}"`;
  const child = Bun.spawn(["bash", "-c", unread, ...command({})], { env: {}, stdout: "pipe", stderr: "inherit" });
  expect(await child.stdout.text()).toBe("3\n");
});

test("The process's log folds repeats, and tells of all of them before the process ends", async () => {
  const lines = (await throughPipe({})).map((line) => JSON.parse(line));
  expect(lines.map(({ message }) => message)).toEqual([
    ...Array(5).fill(["Change", "Fault"]).flat(),
    expect.stringMatching(/^Change, 3 more in \d s$/),
    expect.stringMatching(/^Fault, 3 more in \d s$/),
  ]);
});

test("The process's log has every repeat at level debug, and only errors at level error", async () => {
  const count = (lines: string[], message: string) => lines.filter((line) => line.includes(`"${message}"`)).length;
  const all = await throughPipe({ level: "debug" });
  expect(["Detail", "Change", "Fault"].map((message) => count(all, message))).toEqual([8, 8, 8]);
  const errors = await throughPipe({ level: "error" });
  expect(["Detail", "Change", "Fault"].map((message) => count(errors, message))).toEqual([0, 0, 5]);
});
