/** A question about a prompt, in each form that the routes for prompts take. */

import { encode } from "@msgpack/msgpack";

export const QUERY_PATH = "/v1/internal/kv-cache/query";

export const QUERY_FORMS = ["JSON", "binary", "MessagePack"] as const;

export type QueryForm = (typeof QUERY_FORMS)[number];

const CONTENT_TYPES: Record<QueryForm, string> = {
  JSON: "application/json",
  binary: "application/octet-stream",
  MessagePack: "application/msgpack",
};

/** The request as bytes, to be sent over a connection that stays open; `fields` are those besides the tokens. */
export function encodeRequest(path: string, form: QueryForm, tokens: Uint32Array, fields: Record<string, string>): Uint8Array {
  const body = encodeBody(form, tokens, fields);
  const head = [
    `POST ${form === "binary" ? `${path}?${new URLSearchParams(fields)}` : path} HTTP/1.1`,
    "host: 127.0.0.1",
    `content-type: ${CONTENT_TYPES[form]}`,
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}

/** Asks once. */
export function fetchAnswer(port: number, tokens: Uint32Array): Promise<Response> {
  const headers = { "content-type": CONTENT_TYPES.binary };
  return fetch(`http://127.0.0.1:${port}${QUERY_PATH}`, { method: "POST", headers, body: encodeBody("binary", tokens, {}) });
}

function encodeBody(form: QueryForm, tokens: Uint32Array, fields: Record<string, string>): Uint8Array<ArrayBuffer> {
  switch (form) {
    case "JSON":
      return new TextEncoder().encode(JSON.stringify({ token_ids: Array.from(tokens), ...fields }));
    case "binary":
      return new Uint8Array(tokens.slice().buffer);
    case "MessagePack":
      return encode({ token_ids: Array.from(tokens), ...fields });
  }
}
