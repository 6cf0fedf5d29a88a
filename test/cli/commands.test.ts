import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { runCommand } from "#cli";
import { promptTokens } from "../end-to-end/route/played-rank.ts";
import { RouteSite } from "../end-to-end/route/route-site.ts";
import { RecordingTerminal, run } from "./recording-terminal.ts";

/** A and B prefill, E too if its load were known; C and D decode. */
const [A, B, C, D, E] = ["10.0.0.1:8000", "10.0.0.2:8000", "10.0.0.3:8000", "10.0.0.4:8000", "10.0.0.5:8000"];

const PROMPT = promptTokens().join(",");

/** What is told of a subscription until the fleet's next look. */
const UNSEEN = "it has not been looked at yet";

const NARROW = { size: { columns: 80, rows: 24 }, hasColours: false };

let site: RouteSite;
let url: string;

beforeAll(async () => {
  site = await RouteSite.of(
    {
      [A]: { load: { waiting: 3, usage: 0.42 }, ranks: [{ device: 4, host: 2 }] },
      // The first one that can, decodes.
      [D]: { role: "MIX", load: { waiting: 15, usage: 0.9 } },
      [B]: { load: { waiting: 2 }, ranks: [{ device: 9 }, "silent"] },
      [C]: { role: "DECODE", load: { waiting: 1, usage: 0.2 } },
      [E]: { load: null, ranks: [] },
    },
    ["--track-inflight=true"],
  );
  for (const name of [C, D, E]) await site.sees("is not listened to", name, ({ subscription_error: why }) => why !== UNSEEN);
  url = site.url;
});

afterAll(() => site.stop());

const command = (args: string[], options: Parameters<typeof run>[1] = {}) => run([...args, `--url=${url}`], options);

/** What the silent rank's stream waits for changes with time. */
const SILENT = [/(waiting for the engine's|no complete) snapshot.*/, "no snapshot"] as const;

/** The lines of a table from one that begins with `first`, fields apart. */
function rowsFrom(output: string, first: string): string[][] {
  const lines = output.split("\n");
  const start = lines.findIndex((line) => line.startsWith(first));
  const rest = lines.slice(start);
  const end = rest.indexOf("");
  return rest.slice(0, end < 0 ? rest.length : end).map((line) =>
    line
      .trim()
      .replace(...SILENT)
      .split(/ {2,}/),
  );
}

describe("warmpath status", () => {
  test("status shows role, state, load, streams and blocks of each instance, and what is wrong below it", async () => {
    const { code, output, complaints } = await command(["status"]);
    expect([code, complaints]).toEqual([0, ""]);
    expect(output).toStartWith("Ready\n5 instances, 4 may serve; 3 streams, 2 synchronized\n\n");
    const rows = rowsFrom(output, "INSTANCE").map((row) => row.map((cell) => cell.replace(/^\d+(\.\d)?s$/, "AGE")));
    expect(rows).toEqual([
      ["INSTANCE", "ROLE", "STATE", "WAIT", "CACHE", "AGE", "SYNC", "DEVICE", "HOST", "DISK"],
      [A, "DEFAULT", "ACTIVE", "3", "42%", "AGE", "1/1", "6", "2", "0"],
      [B, "DEFAULT", "ACTIVE", "2", "0%", "AGE", "1/2", "9", "0", "0"],
      ["rank 1: no snapshot"],
      [C, "DECODE", "ACTIVE", "1", "20%", "AGE", "–", "–", "–", "–"],
      ["it works as DECODE, whose blocks no other request can reuse"],
      [D, "MIX→DECODE", "ACTIVE", "15", "90%", "AGE", "–", "–", "–", "–"],
      ["it works as DECODE, whose blocks no other request can reuse"],
      [E, "DEFAULT", "ACTIVE", "–", "–", "–", "–", "–", "–", "–"],
      ["may not serve: load unknown: no load report yet"],
      ["discovery is not enabled, and it registered no event endpoints of its own"],
    ]);
  });

  test("status is narrower than 80 columns where a terminal is", async () => {
    const { output } = await command(["status"], { screen: NARROW });
    for (const line of output.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
    expect(output).toContain(`${D}  MIX→DECODE  ACTIVE`);
  });

  test("status prints what the API answers with --json, on one line", async () => {
    const { code, output } = await command(["status", "--json"]);
    const { ready, reasons, instances } = JSON.parse(output);
    expect([code, ready, reasons, output.trim().split("\n").length]).toEqual([0, true, [], 1]);
    const answer = (await site.request<{ instances: { name: string }[] }>("GET", "/v1/instances")).body;
    expect(instances.map(({ name }: { name: string }) => name)).toEqual(answer.instances.map(({ name }) => name));
  });

  test("status --watch draws in place until it is stopped, and goes on while Warmpath is away", async () => {
    let isThere = true;
    const proxy = Bun.serve({
      port: 0,
      fetch: ({ url: asked }) => {
        return isThere ? fetch(`${url}${new URL(asked).pathname}`) : new Response("starting", { status: 502 });
      },
    });
    const terminal = new RecordingTerminal({ screen: { size: { columns: 80, rows: 10 }, hasColours: true } });
    const frames: string[] = [];
    terminal.onWrite = ({ writes }) => {
      const last = writes.at(-1) as string;
      if (!last.startsWith("\x1b[H")) return;
      frames.push(last);
      isThere = frames.length !== 1;
      if (frames.length === 3) terminal.stop();
    };
    expect(await runCommand("status", ["--watch", `--url=${proxy.url}`], {}, terminal)).toBe(0);
    await proxy.stop(true);
    expect([terminal.writes[0], terminal.writes.at(-1)]).toEqual(["\x1b[?25l\x1b[2J", "\x1b[?25h"]);
    const [first = "", away, again = ""] = frames;
    // The last of ten rows stays empty.
    expect(first.split("\n")).toHaveLength(10);
    expect(first).toContain(" more lines\x1b[K\n");
    expect(first).toEndWith("\n\x1b[J");
    expect(away).toContain("Cannot read what");
    expect(again).toContain("Ready");
  });

  test("status --watch --json prints a line each time, also of what it cannot have", async () => {
    const terminal = new RecordingTerminal();
    terminal.onWrite = () => terminal.stop();
    expect(await runCommand("status", ["--watch", "--json", "--url=http://127.0.0.1:9"], {}, terminal)).toBe(0);
    expect(JSON.parse(terminal.output)).toMatchObject({
      ready: false,
      reasons: [expect.stringContaining("Cannot reach Warmpath")],
    });
  });
});

describe("warmpath query", () => {
  test("query shows by instance and rank what the API answers, with a bar", async () => {
    const { code, output } = await command(["query", PROMPT]);
    expect(code).toBe(0);
    expect(output).toStartWith(`160 tokens: at best 144 are held, 90%, by ${B}\n\n`);
    expect(rowsFrom(output, "INSTANCE")).toEqual([
      ["INSTANCE", "RANK", "REACH", "DEVICE", "HOST", "DISK", "SHARE"],
      [A, "0", "██████▓▓▓▓······", "64", "32", "0", "60%"],
      [B, "0", "██████████████··", "144", "0", "0", "90%"],
      [B, "1", "················", "0", "0", "0", "0%"],
      ["not synchronized: no snapshot"],
    ]);
  });

  test("query asks for some instances, under an adapter and a salt", async () => {
    const { output } = await command(["query", "-", "--instance", A, "--instance", "nobody"], { input: PROMPT });
    expect(rowsFrom(output, "INSTANCE").map(([name]) => name)).toEqual(["INSTANCE", A]);
    for (const option of ["--lora-name=adapter", "--cache-salt=tenant"]) {
      expect((await command(["query", PROMPT, option])).output).toStartWith("160 tokens: nobody holds a block of them\n");
    }
    expect((await command(["query", PROMPT, "--instance=nobody"])).output).toBe(
      "No such stream is listened to, so nobody is known to hold anything\n",
    );
  });

  test("query prints the API's answer with --json", async () => {
    const { output } = await command(["query", PROMPT, "--json"]);
    const { body } = await site.request("POST", "/v1/internal/kv-cache/query", { token_ids: promptTokens() });
    expect(JSON.parse(output)).toEqual(body);
  });

  test("query ends with code 1 and the service's words when it refuses", async () => {
    const { code, output, complaints } = await command(["query", '{"token_ids":[1],"extra_keys":7}', "--json"]);
    expect([code, JSON.parse(output).type]).toEqual([1, "/problems/invalid-fields"]);
    expect(complaints).toStartWith("Cannot read /extra_keys: found 7,");
  });
});

test("health tells that the process lives, and with --json what it answers", async () => {
  expect(await command(["health"])).toEqual({ code: 0, output: "Warmpath lives\n", complaints: "" });
  expect((await command(["health", "--json"])).output).toBe('{"ok":true}\n');
});

describe("warmpath explain", () => {
  test("explain shows where the prompt would go and each side's candidates, the best first, with their parts in words", async () => {
    const { code, output } = await command(["explain", PROMPT]);
    expect(code).toBe(0);
    expect(output.split("\n").slice(0, 3)).toEqual([
      `It would go to ${A} for prefill, then to ${C} for decode; CAR, 160 tokens`,
      `Ahead of ${B} by 0.083 for prefill: holds 50% of the prompt against 0%, though its queue costs 1.00 against 0.67`,
      `Ahead of ${D} by 1.633 for decode: its cache is 20% full against 90%, its queue costs 0.07 against 1.00`,
    ]);
    expect(rowsFrom(output, "PREFILL")).toEqual([
      ["PREFILL", "SCORE", "NOT HELD", "QUEUE"],
      [A, "0.750", "50%", "1.00", "← prefill"],
      ["holds of 160 tokens: 64 on the device, 32 in host memory only; 3 requests waiting"],
      [B, "0.833", "100%", "0.67"],
      ["no credit for what it holds, rank 1: its stream is not synchronized"],
      ["2 requests waiting"],
      [E, "–", "–", "–"],
      ["may not serve: load unknown: no load report yet"],
    ]);
    expect(rowsFrom(output, "DECODE")).toEqual([
      ["DECODE", "SCORE", "CACHE", "QUEUE"],
      [C, "0.267", "20%", "0.07", "← decode"],
      ["1 request waiting"],
      [D, "1.900", "90%", "1.00"],
      ["15 requests waiting"],
    ]);
  });

  test("explain decides nothing: whoever asks again gets the same answer, and nobody else another one", async () => {
    const before = await site.route({ dry_run: true });
    const first = await command(["explain", PROMPT]);
    expect((await command(["explain", PROMPT])).output).toBe(first.output);
    expect((await site.route({ dry_run: true })).candidates).toEqual(before.candidates as NonNullable<typeof before.candidates>);
  });

  test("explain prints the API's answer with --json", async () => {
    const { output } = await command(["explain", PROMPT, "--json"]);
    const { request_id: _own, ...answer } = JSON.parse(output);
    expect(await site.route({ dry_run: true })).toMatchObject(answer);
  });

  test("explain ends with code 1 and each instance's reason when nothing can serve", async () => {
    const empty = await RouteSite.of({ [A]: { load: null }, [B]: { role: "PREFILL" } });
    const { code, output, complaints } = await run(["explain", "1", "--url", empty.url]);
    const status = await run(["status", "--url", empty.url]);
    await empty.stop();
    expect([code, output]).toEqual([1, ""]);
    expect(complaints.split("\n")).toEqual([
      "Cannot route the request: no prefill candidate: 1 without a known load, 1 in need of a decode instance; no decode " +
        "candidate: no instance works on the decode side",
      `  instance "${A}": load unknown: no load report yet`,
      `  instance "${B}": only a DEFAULT instance serves without a decode instance`,
      "",
    ]);
    expect(status.code).toBe(1);
    expect(status.output).toStartWith("Not ready: no prefill candidate: 1 without a known load");
    expect(status.output).toContain(`${A}  DEFAULT  ACTIVE`);
  });
});
