/** The API as one page that a person reads: no script, nothing from elsewhere, so that it works on a site without internet. */

import { createHash } from "node:crypto";
import type { ApiDocument, ApiResponse, MediaType, Operation, Parameter } from "./api-document.ts";
import type { JsonSchema } from "./json-schema.ts";
import { describeShape } from "./shape.ts";

/** A list of plain values, as tokens are. */
const PLAIN_LIST = /\[\s+([^[\]{}]*?)\s+\]/g;

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 65%, transparent); }
body { max-width: 62rem; margin: 0 auto; padding: 2rem 1rem 4rem; font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1rem; margin: 2.5rem 0 .5rem; text-transform: capitalize; } h3 { font-size: .85rem; margin: 1.2rem 0 .3rem; }
p { margin: .4rem 0; } p.soft, td.soft { color: var(--soft); }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; } details details { margin: .3rem 0; }
summary { padding: .5rem .8rem; cursor: pointer; display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: baseline; }
summary span { color: var(--soft); } details > div { padding: 0 .8rem .8rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; } code { overflow-wrap: anywhere; } b code { display: inline-block; min-width: 4rem; }
pre { margin: 0; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: 6px; overflow: auto; max-height: 30rem; }
table { border-collapse: collapse; width: 100%; } td code { white-space: nowrap; } td { border-top: 1px solid var(--line); padding: .3rem .8rem .3rem 0; vertical-align: top; }
`;

/** Of a browser: this page's style and nothing else. */
export const PAGE_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** HTML; whatever the document says stands in it as text. */
export function renderPage(document: ApiDocument): string {
  const { title, version, summary } = document.info;
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<title>${text(title)} API</title><style>${STYLE}</style></head><body>`,
    `<h1>${text(title)} ${text(version)}</h1><p>${text(summary)}</p>`,
    `<p class="soft">For programs: <a href="/openapi/json">the same as an OpenAPI ${text(document.openapi)} document</a>. Every refusal `,
    `is application/problem+json; the page's end has its shape. Every answer has the header X-Request-Id: the request's, or a new one.</p>`,
    ...[...operationsByTag(document)].map(([tag, operations]) => `<h2>${text(tag)}</h2>${operations.join("")}`),
    `<h2>Problem</h2><pre>${text(describeShape(document.components.schemas.Problem as JsonSchema))}</pre>`,
    "</body></html>",
  ].join("");
}

function operationsByTag({ paths }: ApiDocument): Map<string, string[]> {
  const byTag = new Map<string, string[]>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const tag = operation.tags[0] ?? "";
      byTag.set(tag, [...(byTag.get(tag) ?? []), renderOperation(method, path, operation)]);
    }
  }
  return byTag;
}

function renderOperation(method: string, path: string, operation: Operation): string {
  // What every operation has is said once.
  const parameters = operation.parameters.filter((parameter): parameter is Parameter => !("$ref" in parameter));
  const needsToken = operation.security.length > 0 ? "<p>Needs X-Internal-Token where internal_api_token is set.</p>" : "";
  const body = Object.entries(operation.requestBody?.content ?? {}).map(([type, media]) => renderMediaType(type, media));
  return [
    `<details><summary><b><code>${method.toUpperCase()}</code></b><code>${text(path)}</code><span>${text(operation.summary)}</span></summary><div>`,
    operation.description === undefined ? "" : `<p>${text(operation.description)}</p>`,
    needsToken,
    parameters.length > 0 ? `<h3>Parameters</h3><table>${parameters.map(renderParameter).join("")}</table>` : "",
    body.length > 0 ? `<h3>Body</h3>${body.join("")}` : "",
    `<h3>Answers</h3>${Object.entries(operation.responses).map(renderResponse).join("")}`,
    "</div></details>",
  ].join("");
}

function renderParameter({ name, in: place, required, description, schema }: Parameter): string {
  const meaning = description ?? String(schema.description ?? "");
  const where = required ? `${place}, required` : place;
  return `<tr><td><code>${text(name)}</code></td><td class="soft">${where}</td><td>${text(meaning)}</td></tr>`;
}

function renderMediaType(type: string, { schema, examples = {} }: MediaType): string {
  const shown = Object.values(examples).map(
    ({ summary, value }) => `<p>${text(summary)}</p><pre>${text(indentedJson(value))}</pre>`,
  );
  return `<details><summary><code>${text(type)}</code></summary><div><pre>${text(describeShape(schema))}</pre>${shown.join("")}</div></details>`;
}

function renderResponse([status, { description, content = {} }]: [string, ApiResponse]): string {
  const shapes = Object.entries(content)
    .filter(([, { schema }]) => !("$ref" in schema))
    .map(([type, { schema }]) => `<p class="soft">${text(type)}</p><pre>${text(describeShape(schema))}</pre>`);
  if (shapes.length === 0) return `<p><code>${status}</code> ${text(description)}</p>`;
  return `<details><summary><code>${status}</code><span>${text(description)}</span></summary><div>${shapes.join("")}</div></details>`;
}

function indentedJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(PLAIN_LIST, (_, members: string) => `[${members.replace(/\s+/g, " ")}]`);
}

function text(value: string): string {
  return Bun.escapeHTML(value);
}
