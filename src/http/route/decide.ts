/** A body's prompts, decided one after another: each is decoded into the shared token memory, decided, and forgotten. */

import type { AppDependencies } from "../dependencies.ts";
import { createFieldsCheck } from "../fields.ts";
import { indexBusy, Problem } from "../problem.ts";
import { promptNamespace } from "../prompt-namespace.ts";
import { type DecodedBatch, type DecodedBody, decodeTokenBodies, type ReceivedBody } from "../token-body/mod.ts";
import { describePlacement, nowhereToGo } from "./answer.ts";
import { type BatchAnswer, type DecisionAnswer, isTrue, routeFields } from "./schema.ts";

const checkFields = createFieldsCheck(routeFields, ["token_ids"]);

type Decider = Pick<AppDependencies, "directory" | "router">;

/**
 * Decides the prompt of `body`, or each of its prompts, without a pause, since the token memory is shared by all requests.
 * `requestId` is that of a prompt that brings none; in a batch its place is added. Throws a problem that is of the whole body.
 */
export function decide(body: ReceivedBody, requestId: string, decider: Decider): DecisionAnswer | BatchAnswer {
  const decoded = decodeTokenBodies(body, decider.directory.tokens);
  return "entryCount" in decoded ? decideBatch(decoded, requestId, decider) : decidePrompt(decoded, requestId, decider);
}

/** What is wrong with one entry leaves the others as they are. Together they may have as many tokens as one prompt. */
function decideBatch(batch: DecodedBatch, requestId: string, decider: Decider): BatchAnswer {
  const decisions: BatchAnswer["decisions"] = [];
  let tokensLeft = decider.directory.tokens;
  for (let position = 0; position < batch.entryCount; position++) {
    try {
      const prompt = batch.decodeEntry(position, tokensLeft);
      tokensLeft = tokensLeft.subarray(0, tokensLeft.length - prompt.tokenCount);
      decisions.push(decidePrompt(prompt, `${requestId}/${position}`, decider));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      decisions.push({ error: error.within(`/requests/${position}`).toDocument() });
    }
  }
  return { decisions };
}

function decidePrompt({ tokenCount, fields }: DecodedBody, ownRequestId: string, { router }: Decider): DecisionAnswer {
  const { request_id: requestId = ownRequestId, explain = true, dry_run = false, ...namespaceFields } = checkFields(fields);
  const prompt = { requestId, tokenCount, namespace: promptNamespace(namespaceFields) };
  const isDryRun = isTrue(dry_run);
  const decision = isDryRun ? router.preview(prompt) : router.route(prompt);
  if (decision === "busy") throw indexBusy("route the request");
  if (decision.kind === "refused") throw nowhereToGo(decision);
  return { ...describePlacement(decision, requestId, isTrue(explain)), ...(isDryRun && { dry_run: true }) };
}
