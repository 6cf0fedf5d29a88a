/** What Linux tells of a process from outside: memory, open files by kind, sockets by state, threads, and how often it wakes up. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface ProcessFigures {
  rssBytes: number;
  /** Of that, what is no file's. PSS would be another number whenever another program on the same runtime starts or ends. */
  anonymousBytes: number;
  threads: number;
  openFiles: number;
  /** TCP sockets by state, as `LISTEN`. */
  tcpSockets: Record<string, number>;
  /** Every other open file by kind: `socket` of another family, `pipe`, `eventfd`, `eventpoll`, `timerfd`, `file`. */
  otherFiles: Record<string, number>;
  /** Voluntary context switches of all threads since each began: one whenever a timer or a byte wakes one up. */
  wakeUps: number;
  cpuSeconds: number;
}

/** In the order of their numbers in /proc/net/tcp, from 1. */
const TCP_STATES = [
  "ESTABLISHED",
  "SYN_SENT",
  "SYN_RECV",
  "FIN_WAIT1",
  "FIN_WAIT2",
  "TIME_WAIT",
  "CLOSE",
  "CLOSE_WAIT",
  "LAST_ACK",
  "LISTEN",
  "CLOSING",
];

/** `sysconf(_SC_CLK_TCK)`, the same on every Linux of today. */
const TICKS_PER_SECOND = 100;

/** Fields of /proc/pid/stat behind the name, from 0: time in user and in system mode. */
const STAT_USER = 11;
const STAT_SYSTEM = 12;

/** Reads them now; throws when the process is gone. */
export function readProcess(pid: number): ProcessFigures {
  const files = readOpenFiles(pid);
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const tasks = readdirSync(`/proc/${pid}/task`);
  return {
    rssBytes: kibibytes(rollup, "Rss"),
    anonymousBytes: kibibytes(rollup, "Anonymous"),
    threads: tasks.length,
    ...files,
    wakeUps: tasks.reduce((sum, task) => sum + wakeUpsOf(pid, task), 0),
    cpuSeconds: readCpuSeconds(pid),
  };
}

/** The links of /proc/pid/fd, and the state of each socket by its inode, sorted by kind. */
export function countFiles(
  links: readonly string[],
  stateOf: ReadonlyMap<string, string>,
): Pick<ProcessFigures, "openFiles" | "tcpSockets" | "otherFiles"> {
  const tcpSockets: Record<string, number> = {};
  const otherFiles: Record<string, number> = {};
  for (const link of links) {
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
    const state = inode === undefined ? undefined : stateOf.get(inode);
    const [counts, kind] = state === undefined ? [otherFiles, kindOf(link)] : [tcpSockets, state];
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return { openFiles: links.length, tcpSockets, otherFiles };
}

/** The state of each TCP socket by its inode, from the text of /proc/net/tcp or tcp6. */
export function tcpStates(table: string): Map<string, string> {
  const rows = table.trim().split("\n").slice(1);
  return new Map(
    rows.map((row) => {
      const fields = row.trim().split(/\s+/);
      return [fields[9] ?? "", TCP_STATES[Number.parseInt(fields[3] ?? "", 16) - 1] ?? "unknown"];
    }),
  );
}

function readOpenFiles(pid: number) {
  const folder = `/proc/${pid}/fd`;
  const links = readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      return []; // closed since
    }
  });
  const states = ["tcp", "tcp6"].map((name) => tcpStates(readFileSync(`/proc/${pid}/net/${name}`, "utf8")));
  return countFiles(links, new Map(states.flatMap((table) => [...table])));
}

/** `socket:[123]` is a socket, `anon_inode:[eventfd]` an eventfd, a path a file. */
function kindOf(link: string): string {
  return /^anon_inode:\[?(\w+)\]?/.exec(link)?.[1] ?? /^(\w+):\[/.exec(link)?.[1] ?? "file";
}

function kibibytes(rollup: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1]) * 1024;
}

function wakeUpsOf(pid: number, task: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/task/${task}/status`, "utf8");
    return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
  } catch {
    return 0; // ended since
  }
}

function readCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[STAT_USER]) + Number(fields[STAT_SYSTEM])) / TICKS_PER_SECOND;
}
