/**
 * The OpenAPI document, from the schemas that the routes declare: Elysia's plugin lists routes, parameters and schemas, and what it
 * cannot know is completed here, by rule: problem documents, headers, the forms of bodies, and who needs the token.
 */

import type { AnyElysia } from "elysia";
import { PROBLEM_KINDS, problemDocument, problemTitles } from "../problem.ts";
import type { ApiDocument, ApiResponse, MediaType, Operation, Parameter, Reference } from "./api-document.ts";
import { type JsonSchema, plainSchema } from "./json-schema.ts";
import { REQUEST_BODIES, type RequestBodyForms } from "./request-bodies.ts";

/** What the plugin makes of a route, as far as it is used. */
interface RawOperation {
  tags?: string[];
  operationId?: string;
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  responses?: Record<string, { content?: Record<string, { schema?: unknown }> }>;
}

export interface ApiFacts {
  version: string;
  /** Whether a token is configured. */
  needsToken: boolean;
}

interface RouteContext {
  /** The schema of each route's body by method and path, where it has one. */
  bodySchemas: ReadonlyMap<string, unknown>;
  /** Of routes that check the token. */
  tokenSecurity: Operation["security"];
}

const PROBLEM_REFERENCE = "#/components/schemas/Problem";

/** Fields of a prompt that have no form as a query parameter. */
const BODY_ONLY_FIELDS: ReadonlySet<string> = new Set(["token_ids", "extra_keys"]);

/** Describes every route that `app` has by now. */
export async function describeApi(app: AnyElysia, { version, needsToken }: ApiFacts): Promise<ApiDocument> {
  // Only who reads the document pays for the plugin.
  const { toOpenAPISchema } = await import("@elysiajs/openapi/openapi");
  const context: RouteContext = {
    bodySchemas: new Map(app.routes.map(({ method, path, hooks }) => [routeName(method, path), hooks.body])),
    tokenSecurity: [{ internalToken: [] }, ...(needsToken ? [] : [{}])],
  };
  const paths: ApiDocument["paths"] = {};
  for (const [path, operations] of Object.entries(toOpenAPISchema(app).paths)) {
    const described = Object.entries(operations as Record<string, RawOperation>).map(
      ([method, operation]) => [method, completeOperation(routeName(method, path), operation, context)] as const,
    );
    paths[path] = Object.fromEntries(described);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Warmpath",
      version,
      summary: "KV-cache directory and cache-aware router for fleets of LLM inference engines",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    paths,
    components: components(),
  };
}

function routeName(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;
}

function completeOperation(name: string, raw: RawOperation, { bodySchemas, tokenSecurity }: RouteContext): Operation {
  const { tags = [], operationId = "", summary = "", description, parameters = [], responses = {} } = raw;
  const schema = bodySchemas.get(name);
  const body = REQUEST_BODIES[name];
  const bodySchema = schema === undefined || body === undefined ? null : plainSchema(schema);
  return {
    tags,
    operationId,
    summary,
    ...(description !== undefined && { description }),
    security: "401" in responses ? tokenSecurity : [],
    parameters: [
      ...parameters.map(describeParameter),
      ...(bodySchema !== null && body?.forms === "tokens" ? binaryParameters(bodySchema) : []),
      { $ref: "#/components/parameters/RequestId" },
    ],
    ...(bodySchema !== null && body && { requestBody: { required: true, content: bodyContent(bodySchema, body) } }),
    responses: {
      ...Object.fromEntries(
        // Whatever fails unexpectedly answers 500, also where a route declares none.
        Object.entries({ ...responses, 500: {} }).map(([status, response]) => [status, describeResponse(status, response)]),
      ),
      431: { description: "Address and headers have more than 16 KiB or 200 lines; the server itself answers, with no body" },
    },
  };
}

/** An empty segment is another path. */
function describeParameter(parameter: Parameter): Parameter {
  const schema = plainSchema(parameter.schema);
  return { ...parameter, schema: parameter.in === "path" ? { ...schema, minLength: 1 } : schema };
}

/** The fields of a prompt whose body is the tokens alone. */
function binaryParameters(schema: JsonSchema): Parameter[] {
  const fields = Object.entries(promptSchema(schema).properties as Record<string, JsonSchema>);
  return fields
    .filter(([name]) => !BODY_ONLY_FIELDS.has(name))
    .map(([name, { description, ...field }]) => ({
      name,
      in: "query",
      required: false,
      description: `With an application/octet-stream body, in the place of the field: ${description}`,
      schema: "enum" in field ? { type: "string", enum: ["true", "false"] } : field,
      ...(field.type === "array" && { style: "form", explode: false }),
    }));
}

/** Of a route that takes one prompt or several, the schema of one. */
function promptSchema(schema: JsonSchema): JsonSchema {
  return Array.isArray(schema.anyOf) ? schema.anyOf[0] : schema;
}

function bodyContent(schema: JsonSchema, { forms, examples }: RequestBodyForms): Record<string, MediaType> {
  const object = { schema, examples };
  if (forms === "json") return { "application/json": object };
  const bytes = {
    type: "string",
    format: "binary",
    description: "The tokens alone, as u32 little-endian; the other fields are query parameters",
  };
  return {
    "application/json": object,
    "application/msgpack": { schema },
    "application/x-msgpack": { schema },
    "application/octet-stream": { schema: bytes },
  };
}

function describeResponse(status: string, { content = {} }: { content?: Record<string, { schema?: unknown }> }): ApiResponse {
  const headers: Record<string, Reference> = { "X-Request-Id": headerReference("RequestId") };
  if (Number(status) >= 400) {
    if (status === "503") headers["Retry-After"] = headerReference("RetryAfter");
    if (status === "415") headers["Accept-Post"] = headerReference("AcceptPost");
    // Which of the kinds with this status a route can answer is said by the problem itself.
    const description = status === "503" ? "Not now; another try may succeed" : problemTitles(Number(status)).join("; or: ");
    const problem = { "application/problem+json": { schema: { $ref: PROBLEM_REFERENCE } } };
    return { description, headers, content: problem };
  }
  const [[declaredType, declared] = ["", {}]] = Object.entries(content);
  if (declared.schema === undefined) return { description: "Done; the answer has no body", headers };
  const { contentMediaType = declaredType, ...rest } = plainSchema(declared.schema);
  return { description: String(rest.description ?? "Done"), headers, content: { [String(contentMediaType)]: { schema: rest } } };
}

function headerReference(name: string): Reference {
  return { $ref: `#/components/headers/${name}` };
}

function components(): ApiDocument["components"] {
  const problem = plainSchema(problemDocument);
  const properties = problem.properties as Record<string, JsonSchema>;
  return {
    schemas: {
      Problem: {
        ...problem,
        properties: { ...properties, type: { ...properties.type, enum: PROBLEM_KINDS.map((kind) => `/problems/${kind}`) } },
      },
    },
    parameters: {
      RequestId: {
        name: "X-Request-Id",
        in: "header",
        required: false,
        description:
          "Name of the request in answers and log lines: 1 to 128 printable ASCII characters, anything else is replaced",
        schema: { type: "string" },
      },
    },
    headers: {
      RequestId: { description: "The request's, or a new one", required: true, schema: { type: "string", minLength: 1 } },
      RetryAfter: { description: "Seconds", required: true, schema: { type: "integer", minimum: 1 } },
      AcceptPost: { description: "Content types that are supported", required: true, schema: { type: "string" } },
    },
    securitySchemes: {
      internalToken: {
        type: "apiKey",
        in: "header",
        name: "X-Internal-Token",
        description: "Needed where internal_api_token is set",
      },
    },
  };
}
