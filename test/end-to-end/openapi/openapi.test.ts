/** The document, held against a running service with instances and streams: its examples, and thousands of requests made up from it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encode } from "@msgpack/msgpack";
import type { ApiDocument } from "../../../src/http/openapi/api-document.ts";
import { undocumented } from "../../http/openapi/documented-answer.ts";
import { RouteSite } from "../route/route-site.ts";
import { findSchemathesis, fuzz } from "./schemathesis.ts";

const CASES_PER_OPERATION = 100;

let site: RouteSite;
let document: ApiDocument;

beforeAll(async () => {
  site = await RouteSite.of({
    "127.0.0.1:21001": { load: { waiting: 1, usage: 0.2 }, ranks: [{ device: 4, host: 2 }] },
    "127.0.0.1:21002": { load: { waiting: 0, usage: 0.1 }, role: "DECODE" },
  });
  document = (await (await fetch(`${site.url}/openapi/json`)).json()) as ApiDocument;
});

afterAll(() => site.stop());

/** The object in each form; a prompt's fields as parameters where the body is its tokens alone, or null where they have no such form. */
function inForm(type: string, value: Record<string, unknown>): { query: string; body: string | Uint8Array<ArrayBuffer> } | null {
  if (type === "application/json") return { query: "", body: JSON.stringify(value) };
  if (type !== "application/octet-stream") return { query: "", body: new Uint8Array(encode(value)) };
  const { token_ids: tokens, extra_keys: keys, ...fields } = value;
  if (!Array.isArray(tokens) || keys !== undefined) return null;
  const query = new URLSearchParams(Object.entries(fields).map(([name, field]): [string, string] => [name, String(field)]));
  return { query: `?${query}`, body: Uint8Array.from(new Uint8Array(Uint32Array.from(tokens).buffer)) };
}

describe("The OpenAPI document", () => {
  test("has examples of bodies that the service takes in every form, and answers as documented", async () => {
    let sent = 0;
    // Who registers comes first: the heartbeat is of that instance.
    const paths = Object.keys(document.paths).sort((left, right) => left.length - right.length);
    for (const path of paths) {
      const content = document.paths[path].post?.requestBody?.content ?? {};
      const examples = content["application/json"]?.examples ?? {};
      for (const type of Object.keys(content)) {
        for (const [name, { value }] of Object.entries(examples)) {
          const form = inForm(type, value);
          if (form === null) continue;
          const address = `${site.url}${path.replace("{id}", "request-1")}${form.query}`;
          const response = await fetch(address, { method: "POST", headers: { "content-type": type }, body: form.body });
          expect([path, type, name, response.ok]).toEqual([path, type, name, true]);
          expect(await undocumented(document, "POST", path, response)).toEqual([]);
          sent += 1;
        }
      }
    }
    expect(sent).toBeGreaterThan(15);
  });

  test("is kept to by the service under thousands of requests that schemathesis makes up", async () => {
    const command = await findSchemathesis();
    if (command === null) {
      if (Bun.env.CI === "true") throw new Error("Cannot run schemathesis: it is absent, Python with venv and pip is needed");
      console.log("Skipped: schemathesis is absent and cannot be installed, Python with venv and pip is needed");
      return;
    }
    const { exitCode, report } = await fuzz(command, site.url, CASES_PER_OPERATION);
    if (exitCode !== 0) console.log(report.slice(0, 20_000));
    expect(exitCode).toBe(0);
    const cases = Number(/(\d+) generated/.exec(report)?.[1] ?? 0);
    console.log(`schemathesis: ${cases} cases`);
    expect(cases).toBeGreaterThan(2000);
    // It still serves whom it knew before.
    expect((await fetch(`${site.url}/healthz`)).status).toBe(200);
  }, 400_000);
});
