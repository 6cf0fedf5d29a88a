/** How a request fares, from a client's words to the router's. */

import type { RequestStep } from "#routing";
import type { RouterView } from "../dependencies.ts";
import { createFieldsCheck, invalidFields } from "../fields.ts";
import { excerpt, Problem } from "../problem.ts";
import { type StepFields, stepFields } from "./step-schema.ts";

const STEP_OF: Readonly<Record<StepFields["phase"], RequestStep>> = {
  prefill: "finish-prefill",
  generate: "generate",
  decode: "finish-decode",
  cancel: "cancel",
};

const checkFields = createFieldsCheck(stepFields, []);

/** Throws a problem: 422 when the report cannot be read, 404 when the router keeps books and the request is not in them. */
export function noteStep(requestId: string, fields: Record<string, unknown>, router: RouterView): void {
  const { phase, generated_tokens: generatedTokens } = checkFields(fields);
  if (generatedTokens !== undefined && phase !== "generate") {
    const detail = `found ${generatedTokens} with phase ${phase}, it is allowed with phase generate only`;
    throw invalidFields([{ pointer: "/generated_tokens", detail }]);
  }
  if (router.step(requestId, STEP_OF[phase], generatedTokens ?? 1)) return;
  throw new Problem("not-found", {
    detail: `Cannot note phase ${phase} of request ${excerpt(requestId)}: it is not under way, a request that was routed and has not ended is needed`,
  });
}
