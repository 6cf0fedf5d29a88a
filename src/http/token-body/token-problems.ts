/** The refusals that all body forms share, so that the same mistake reads the same in each. */

import { excerptText, Problem, type ProblemError } from "../problem.ts";

/** Tokens are u32. */
export const TOKEN_MAX = 0xffff_ffff;

/** 422: the element `index` of token_ids is not a token. `found` is its text, `offset` its byte in the body. */
export function invalidToken(index: number, found: string, offset: number): Problem {
  const detail = `found ${found}, allowed are plain integers from 0 to ${TOKEN_MAX}`;
  return invalidField({ pointer: `/token_ids/${index}`, detail, offset });
}

/** 422: token_ids is there, but is no list of tokens. `needed` says what it may be. */
export function notTokens(found: string, needed: string, offset: number): Problem {
  return invalidField({ pointer: "/token_ids", detail: `found ${found}, ${needed} is needed`, offset });
}

/** 422: there is no token_ids. */
export function missingTokens(): Problem {
  return invalidField({ pointer: "/token_ids", detail: "found no such field, the prompt's tokens are needed" });
}

/** 413. `found` is null while the tokens are still being counted. */
export function tooManyTokens(found: number | null, limit: number): Problem {
  const count = found === null ? "more" : String(found);
  return new Problem("too-many-tokens", {
    detail: `Cannot match the prompt: found ${count} tokens, at most ${limit} are allowed`,
    errors: [{ pointer: "/token_ids", detail: `found ${count} tokens, at most ${limit} are allowed` }],
  });
}

/** 422: requests is there, but is no list. */
export function notRequests(found: string, offset: number): Problem {
  return invalidRequests({ detail: `found ${found}, an array of objects with token_ids is needed`, offset });
}

/** 422: `offset` is where the first entry too many begins. */
export function tooManyRequests(limit: number, offset: number): Problem {
  return invalidRequests({ detail: `found more entries, at most ${limit} are allowed`, offset });
}

/** 422: the object is a prompt and a batch at once. */
export function fieldsBesideRequests(names: string[]): Problem {
  return invalidRequests({ detail: `found ${excerptText(names.join(", "))} beside it, other fields belong in its entries` });
}

function invalidRequests(error: Omit<ProblemError, "pointer">): Problem {
  return invalidField({ pointer: "/requests", ...error });
}

function invalidField(error: ProblemError): Problem {
  return new Problem("invalid-fields", { detail: `Cannot read ${error.pointer}: ${error.detail}`, errors: [error] });
}
