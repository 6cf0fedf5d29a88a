/** The refusals that all body forms share, so that the same mistake reads the same in each. */

import { Problem, type ProblemError } from "../problem.ts";

/** Tokens are u32. */
export const TOKEN_MAX = 0xffff_ffff;

/** 422: the element `index` of token_ids is not a token. `found` is its text, `offset` its byte in the body. */
export function invalidToken(index: number, found: string, offset: number): Problem {
  const detail = `found ${found}, allowed are plain integers from 0 to ${TOKEN_MAX}`;
  return invalidTokens({ pointer: `/token_ids/${index}`, detail, offset });
}

/** 422: token_ids is there, but is no list of tokens. `needed` says what it may be. */
export function notTokens(found: string, needed: string, offset: number): Problem {
  return invalidTokens({ pointer: "/token_ids", detail: `found ${found}, ${needed} is needed`, offset });
}

/** 422: there is no token_ids. */
export function missingTokens(): Problem {
  return invalidTokens({ pointer: "/token_ids", detail: "found no such field, the prompt's tokens are needed" });
}

/** 413. `found` is null while the tokens are still being counted. */
export function tooManyTokens(found: number | null, limit: number): Problem {
  const count = found === null ? "more" : String(found);
  return new Problem("too-many-tokens", {
    detail: `Cannot match the prompt: found ${count} tokens, at most ${limit} are allowed`,
    errors: [{ pointer: "/token_ids", detail: `found ${count} tokens, at most ${limit} are allowed` }],
  });
}

function invalidTokens(error: ProblemError): Problem {
  return new Problem("invalid-fields", { detail: `Cannot read ${error.pointer}: ${error.detail}`, errors: [error] });
}
