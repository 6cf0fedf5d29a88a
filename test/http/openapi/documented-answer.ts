/** Holds real answers against the document of the app that gave them. */

import type { ApiDocument, ApiResponse } from "../../../src/http/openapi/api-document.ts";
import { schemaMistakes } from "../../support/json-schema.ts";

/** What is undocumented in the answer to `method` at `path` of the document; the body of `response` is read. */
export async function undocumented(document: ApiDocument, method: string, path: string, response: Response): Promise<string[]> {
  const described = document.paths[path]?.[method.toLowerCase()]?.responses[String(response.status)];
  if (described === undefined) return [`${method} ${path} does not document status ${response.status}`];
  return [...headerMistakes(document, described, response.headers), ...(await bodyMistakes(document, described, response))].map(
    (mistake) => `${method} ${path} ${response.status}: ${mistake}`,
  );
}

function headerMistakes({ components }: ApiDocument, { headers = {} }: ApiResponse, found: Headers): string[] {
  return Object.entries(headers).flatMap(([name, { $ref }]) => {
    const value = found.get(name);
    if (value === null) return [`the header ${name} is absent`];
    const { schema } = components.headers[$ref.split("/").at(-1) ?? ""] as { schema: { type: string } };
    return schemaMistakes(schema.type === "integer" ? Number(value) : value, schema, {}, name);
  });
}

async function bodyMistakes(document: ApiDocument, { content }: ApiResponse, response: Response): Promise<string[]> {
  const text = await response.text();
  if (content === undefined) return text === "" ? [] : [`a body that is not documented: ${text.slice(0, 80)}`];
  const mediaType = response.headers.get("content-type")?.split(";", 1)[0] ?? "";
  const media = content[mediaType];
  if (media === undefined) return [`content type ${mediaType}, documented are ${Object.keys(content)}`];
  const value: unknown = mediaType.endsWith("json") ? JSON.parse(text) : text;
  return schemaMistakes(value, media.schema, document as unknown as Record<string, unknown>);
}
