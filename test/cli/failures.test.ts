import { afterEach, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificates } from "../support/certificates.ts";
import { run } from "./recording-terminal.ts";

const TOKEN_FILE = join(tmpdir(), `warmpath-token-${crypto.randomUUID()}`);

let server: Bun.Server<unknown> | null = null;

afterEach(async () => {
  await server?.stop(true);
  server = null;
  await rm(TOKEN_FILE, { force: true });
});

/** A door that answers every request like this. */
function answering(answer: (request: Request) => Response | Promise<Response>): string {
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  return `http://127.0.0.1:${server.port}`;
}

function problem(kind: string, status: number, detail: string): Response {
  const headers = { "content-type": "application/problem+json" };
  return Response.json({ type: `/problems/${kind}`, title: "", status, detail }, { status, headers });
}

describe("A command that cannot reach Warmpath ends with code 3", () => {
  test("where nothing listens", async () => {
    const { code, complaints } = await run(["status", "--url=http://127.0.0.1:9"]);
    expect(code).toBe(3);
    expect(complaints).toBe(
      "Cannot reach Warmpath at http://127.0.0.1:9: nothing listens there; a running Warmpath, or its --url or WARMPATH_URL, is needed\n",
    );
  });

  test("when no answer comes in time", async () => {
    const url = answering(() => new Promise(() => {}));
    const { code, complaints } = await run(["query", "1", `--url=${url}`, "--timeout=0.05"]);
    expect(code).toBe(3);
    expect(complaints).toContain("no answer within 0.05 s");
  });

  test("when nobody vouches for its certificate, and says what would", async () => {
    server = Bun.serve({ hostname: "127.0.0.1", port: 0, tls: createCertificates().server, fetch: () => Response.json({}) });
    const { code, complaints } = await run(["status", `--url=https://127.0.0.1:${server.port}`]);
    expect(code).toBe(3);
    expect(complaints).toContain("named by NODE_EXTRA_CA_CERTS, is needed");
  });

  test.each([
    ["another service's page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["another service's refusal", () => Response.json({ error: "no" }, { status: 404 })],
    ["JSON that is no object", () => Response.json(7)],
    ["a redirection", () => Response.redirect("http://127.0.0.1:9/")],
  ])("when it gets %s", async (_, answer) => {
    const url = answering(answer);
    const { code, complaints } = await run(["explain", "1", `--url=${url}`]);
    expect(code).toBe(3);
    expect(complaints).toStartWith(`Cannot read what ${url}/v1/route answers: found status`);
  });
});

describe("A command that Warmpath refuses ends with code 1", () => {
  test("and tells the service's words", async () => {
    const url = answering(() => problem("busy", 503, "Cannot match the prompt: the index was not free in time"));
    const { code, complaints } = await run(["query", "1", `--url=${url}`]);
    expect([code, complaints]).toEqual([1, "Cannot match the prompt: the index was not free in time\n"]);
  });

  test("and says how the token is given where one is needed", async () => {
    const url = answering(() =>
      problem("token-required", 401, "Cannot accept the request: the header X-Internal-Token is absent"),
    );
    const { code, complaints } = await run(["query", "1", `--url=${url}`]);
    expect(code).toBe(1);
    expect(complaints).toContain("WARMPATH_INTERNAL_API_TOKEN, or in a file with --token-file");
  });

  test("and lets no word of it steer the terminal", async () => {
    const url = answering(() => problem("busy", 503, "\x1b[2J"));
    expect((await run(["query", "1", `--url=${url}`])).complaints).toBe("\\u001b[2J\n");
  });
});

describe("The token", () => {
  const echoed = () => {
    const tokens: (string | null)[] = [];
    const url = answering(({ headers }) => {
      tokens.push(headers.get("x-internal-token"));
      return Response.json({ matches: [] });
    });
    return { tokens, url };
  };

  test("is sent from the environment, and rather from the file that is named, without its last newline", async () => {
    const { tokens, url } = echoed();
    await Bun.write(TOKEN_FILE, "from-file\n");
    const environment = { WARMPATH_INTERNAL_API_TOKEN: "from-environment", WARMPATH_URL: url };
    for (const args of [[], ["--token-file", TOKEN_FILE]]) await run(["query", "1", ...args], { environment });
    await run(["query", "1"], { environment: { WARMPATH_URL: url } });
    expect(tokens).toEqual(["from-environment", "from-file", null]);
  });

  test("that a header cannot carry is refused with code 2, and never shown", async () => {
    await Bun.write(TOKEN_FILE, "two secrets");
    for (const [args, environment] of [
      [["--token-file", TOKEN_FILE], {}],
      [[], { WARMPATH_INTERNAL_API_TOKEN: "two secrets" }],
    ] as const) {
      const { code, complaints } = await run(["query", "1", ...args], { environment });
      expect(code).toBe(2);
      expect(complaints).not.toContain("secrets");
    }
    expect((await run(["query", "1", "--token-file=/does/not/exist"])).complaints).toContain(
      'Cannot use --token-file "/does/not/exist"',
    );
  });
});

describe("Wrong usage ends with code 2", () => {
  test.each([
    [
      ["stauts"],
      'Cannot run "stauts": found no such command, needed serve, status, query, explain, health (did you mean status?)',
    ],
    [["zzz"], 'Cannot run "zzz": found no such command, needed serve, status, query, explain, health; '],
    [["status", "x"], 'Cannot read the arguments:\n  "x": found a further argument, needed none'],
    [
      ["status", "--wacth"],
      "Cannot read the arguments:\n  --wacth: found an unknown option, needed one that --help lists (did you mean --watch?)",
    ],
    [["query"], "Cannot read a prompt: found none"],
    [
      ["status", "--url=127.0.0.1:8888"],
      'Cannot use --url: found "127.0.0.1:8888", needed http://host:port or https://host:port',
    ],
    [["status", "--url=http://a:b@h"], "Cannot use --url: found a login in it"],
    [["status", "--url=http://h/?a"], "Cannot use --url: found more than a path in it"],
    [["status", "--timeout=0"], 'Cannot use --timeout: found "0", needed seconds above 0 and at most 3600'],
    [["status", "--timeout=soon"], 'Cannot use --timeout: found "soon"'],
  ])("%j", async (args, message) => {
    const { code, output, complaints } = await run(args);
    expect([code, output]).toEqual([2, ""]);
    expect(complaints).toStartWith(message);
  });

  test("of WARMPATH_URL, which is named", async () => {
    const { code, complaints } = await run(["status"], { environment: { WARMPATH_URL: "nowhere" } });
    expect([code, complaints]).toEqual([
      2,
      'Cannot use WARMPATH_URL: found "nowhere", needed http://host:port or https://host:port\n',
    ]);
  });
});

test("A command is asked below the path of its URL", async () => {
  const paths: string[] = [];
  const url = answering(({ url: asked }) => {
    paths.push(new URL(asked).pathname);
    return Response.json({ matches: [] });
  });
  for (const prefix of ["", "/", "/warmpath", "/warmpath/"]) await run(["query", "1", `--url=${url}${prefix}`]);
  const path = "/v1/internal/kv-cache/query";
  expect(paths).toEqual([path, path, `/warmpath${path}`, `/warmpath${path}`]);
});

test.each(["status", "query", "explain", "health"])(
  "The help of %s fits 80 columns, and has its options and exit codes",
  async (name) => {
    for (const flag of ["--help", "-h"]) {
      const { code, output } = await run([name, flag, "--no-such-option"]);
      expect(code).toBe(0);
      expect(output).toContain(`${name} `);
      for (const part of ["--url URL", "--json", "Exit codes:\n  0  ", "\n  3  "]) expect(output).toContain(part);
      for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
  },
);
