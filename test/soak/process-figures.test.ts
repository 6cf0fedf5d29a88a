import { describe, expect, test } from "bun:test";
import { countFiles, readProcess, tcpStates } from "./process-figures.ts";

const TCP_TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:22B8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4001 1 0000000000000000 100 0 0 10 0
   1: 0100007F:22B8 0100007F:9C40 08 00000000:00000000 00:00000000 00000000     0        0 4002 1 0000000000000000 20 4 30 10 -1
`;

describe("tcpStates", () => {
  test("names the state of each socket by its inode", () => {
    expect([...tcpStates(TCP_TABLE)]).toEqual([
      ["4001", "LISTEN"],
      ["4002", "CLOSE_WAIT"],
    ]);
  });
});

describe("countFiles", () => {
  test("sorts TCP sockets by state and everything else by kind", () => {
    const links = ["socket:[4001]", "socket:[4002]", "socket:[9]", "pipe:[3]", "anon_inode:[eventpoll]", "/dev/null"];
    expect(countFiles(links, tcpStates(TCP_TABLE))).toEqual({
      openFiles: 6,
      tcpSockets: { LISTEN: 1, CLOSE_WAIT: 1 },
      otherFiles: { socket: 1, pipe: 1, eventpoll: 1, file: 1 },
    });
  });
});

describe.if(process.platform === "linux")("readProcess", () => {
  test("sees a socket that this process opens, and no longer once it is closed", () => {
    const listening = () => readProcess(process.pid).tcpSockets.LISTEN ?? 0;
    const before = listening();
    const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    expect(listening()).toBe(before + 1);
    server.stop(true);
    expect(listening()).toBe(before);
  });

  test("tells memory, threads and processor time", () => {
    const { rssBytes, anonymousBytes, threads, wakeUps, cpuSeconds } = readProcess(process.pid);
    expect(rssBytes).toBeGreaterThan(2 ** 20);
    expect(anonymousBytes).toBeLessThanOrEqual(rssBytes);
    expect(threads).toBeGreaterThan(0);
    expect(wakeUps).toBeGreaterThan(0);
    expect(cpuSeconds).toBeGreaterThan(0);
  });
});
