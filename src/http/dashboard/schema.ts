/** What the dashboard's routes answer. */

import { t } from "elysia";
import { problemDocument } from "../problem.ts";

export const pageResponses = { 200: t.NoValidate(t.String({ contentMediaType: "text/html" })), 500: problemDocument };

export const liveResponses = {
  200: t.NoValidate(t.Any({ contentMediaType: "text/event-stream" })),
  401: problemDocument,
  500: problemDocument,
  503: problemDocument,
};
