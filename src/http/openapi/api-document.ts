/** OpenAPI 3.1, as far as our document goes. */

import type { JsonSchema } from "./json-schema.ts";
import type { RequestBodyForms } from "./request-bodies.ts";

export interface Reference {
  $ref: string;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: JsonSchema;
  style?: "form";
  explode?: boolean;
}

export interface MediaType {
  schema: JsonSchema;
  examples?: RequestBodyForms["examples"];
}

export interface ApiResponse {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, MediaType>;
}

export interface Operation {
  tags: string[];
  operationId: string;
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ApiResponse>;
}

export interface ApiDocument {
  openapi: string;
  info: { title: string; version: string; summary: string; license: { name: string; identifier: string } };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
}
