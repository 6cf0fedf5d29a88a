import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { createFakeApp } from "../fake-directory.ts";

const response = await createFakeApp({ internalApiToken: "secret" }).send("GET", "/");
const html = await response.text();

function textOf(name: string): string {
  const found = [...html.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^]*?)</${name}>`, "g"))];
  expect(found).toHaveLength(1);
  return found[0]?.[1] ?? "";
}

describe("GET /", () => {
  test("answers with one HTML document, without a token", () => {
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(html).toStartWith("<!doctype html>");
    expect(html.trimEnd()).toEndWith("</html>");
  });

  test("has its script and its style inside, and names no other origin", () => {
    expect(textOf("script").length).toBeGreaterThan(10_000);
    expect(textOf("style").length).toBeGreaterThan(1000);
    expect(html).not.toMatch(/<(?:link|script|img|iframe)[^>]*(?:src|href)="(?!data:)/);
    const origins = new Set([...html.matchAll(/https?:\/\/[\w.-]+/g)].map(([origin]) => origin));
    // SVG's namespace, and the place of an engine in a command to copy.
    expect([...origins].sort()).toEqual(["http://ENGINE", "http://www.w3.org"]);
  });

  test("allows exactly that script and that style to run", () => {
    const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    expect(response.headers.get("content-security-policy")).toBe(
      `default-src 'none'; script-src ${digest(textOf("script"))}; style-src ${digest(textOf("style"))}; connect-src 'self'; ` +
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  test("holds nothing of the service in its script but names of fields and paths", () => {
    const script = textOf("script");
    for (const name of ["Elysia", "TypeCompiler", "createHash", "bun:", "node:"]) expect(script).not.toContain(name);
    expect(script).not.toMatch(/\bBun\./);
  });
});
