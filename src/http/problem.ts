/** Every refusal as `application/problem+json` (RFC 9457): the closed list of kinds, the document, the error that carries it. */

import { type Static, t } from "elysia";

const KINDS = {
  "malformed-body": { status: 400, title: "The body cannot be decoded" },
  "token-required": { status: 401, title: "A valid X-Internal-Token is required" },
  "not-found": { status: 404, title: "There is no such resource" },
  "method-not-allowed": { status: 405, title: "The resource does not support this method" },
  conflict: { status: 409, title: "The request contradicts what is registered" },
  "body-too-large": { status: 413, title: "The body is too large" },
  "too-many-tokens": { status: 413, title: "The prompt has too many tokens" },
  "unsupported-media-type": { status: 415, title: "The body's content type is not supported" },
  "invalid-fields": { status: 422, title: "Fields of the request are not valid" },
  "internal-error": { status: 500, title: "The request failed unexpectedly" },
  "no-instance": { status: 503, title: "No instance can serve" },
  "not-ready": { status: 503, title: "The directory is not ready" },
  busy: { status: 503, title: "The directory is busy" },
  overloaded: { status: 503, title: "Too many requests are under way" },
  "too-many-watchers": { status: 503, title: "No further page can watch" },
  "fleet-full": { status: 503, title: "The fleet takes no further instance" },
} as const;

export type ProblemKind = keyof typeof KINDS;

export const PROBLEM_KINDS = Object.keys(KINDS) as ProblemKind[];

/** What a problem with this status may be. */
export function problemTitles(status: number): string[] {
  return PROBLEM_KINDS.filter((kind) => KINDS[kind].status === status).map((kind) => KINDS[kind].title);
}

const problemError = t.Object({
  detail: t.String(),
  pointer: t.Optional(
    t.String({ description: "Where in the request object, RFC 6901; query parameters count as fields of that object" }),
  ),
  offset: t.Optional(t.Integer({ description: "Where in the body, in bytes" })),
});

export type ProblemError = Static<typeof problemError>;

export const problemDocument = t.Object({
  type: t.String({ description: "Stable identifier of the kind of problem, a relative URI" }),
  title: t.String(),
  status: t.Integer(),
  detail: t.String({ description: "What could not be done, what was found, what is needed" }),
  errors: t.Optional(t.Array(problemError)),
  error: t.Optional(t.String({ description: "The same in xLLM service's words, where its clients read them" })),
});

/** What a route that decodes a body may refuse with, whatever it does. */
export const bodyProblems = {
  400: problemDocument,
  401: problemDocument,
  413: problemDocument,
  415: problemDocument,
  422: problemDocument,
  500: problemDocument,
  503: problemDocument,
};

export type ProblemDocument = Static<typeof problemDocument>;

interface ProblemParts {
  detail: string;
  errors?: ProblemError[];
  /** The same in xLLM service's words. */
  error?: string;
  /** Headers of the answer beside the content type. */
  headers?: Record<string, string>;
  /** The error beneath, for the log. */
  cause?: unknown;
}

/** Thrown anywhere beneath a route; `createApp` turns it into the answer. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly #parts: ProblemParts;

  constructor(kind: ProblemKind, parts: ProblemParts) {
    super(parts.detail, { cause: parts.cause });
    this.name = "Problem";
    this.kind = kind;
    this.#parts = parts;
  }

  /** The same problem in xLLM service's words too: `error`, unless it has its own. */
  inXllmWords(error: string): Problem {
    return new Problem(this.kind, { error, ...this.#parts });
  }

  /** The same problem of one part of the request object, that at `pointer`. */
  within(pointer: string): Problem {
    const { errors, ...rest } = this.#parts;
    const isPlaced = (error: ProblemError) => error.pointer !== undefined || error.offset !== undefined;
    const placed = errors?.map((error) => (isPlaced(error) ? { ...error, pointer: pointer + (error.pointer ?? "") } : error));
    return new Problem(this.kind, { ...rest, ...(placed && { errors: placed }) });
  }

  toDocument(): ProblemDocument {
    const { detail, errors, error } = this.#parts;
    const { status, title } = KINDS[this.kind];
    return { type: `/problems/${this.kind}`, title, status, detail, ...(errors && { errors }), ...(error && { error }) };
  }

  toResponse(): Response {
    const headers = { ...this.#parts.headers, "content-type": "application/problem+json" };
    return new Response(JSON.stringify(this.toDocument()), { status: KINDS[this.kind].status, headers });
  }
}

/** The 503 problem of a directory that is there, but could not be read at once. */
export function indexBusy(what: string): Problem {
  return new Problem("busy", {
    detail: `Cannot ${what}: the index was not free in time, another try is needed`,
    headers: { "retry-after": "1" },
  });
}

/** The 503 problem of a request for which those under way leave no room. */
export function overloaded(detail: string): Problem {
  return new Problem("overloaded", { detail, headers: { "retry-after": "1" } });
}

/** The JSON pointer of a field of the request object. */
export function fieldPointer(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

const EXCERPT_CHARACTERS_MAX = 64;

/** What was found, short enough for a message: JSON's text of `found`, cut after 64 characters. */
export function excerpt(found: unknown): string {
  if (found instanceof Uint8Array) return `${found.length} bytes`;
  return excerptText(typeof found === "number" ? String(found) : (JSON.stringify(found) ?? String(found)));
}

/** `text` cut after 64 characters. */
export function excerptText(text: string): string {
  return text.length <= EXCERPT_CHARACTERS_MAX ? text : `${text.slice(0, EXCERPT_CHARACTERS_MAX)}…`;
}
