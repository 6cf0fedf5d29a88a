/** What the routes answer that describe the API. */

import { t } from "elysia";
import { problemDocument } from "../problem.ts";

export const pageResponses = { 200: t.NoValidate(t.String({ contentMediaType: "text/html" })), 500: problemDocument };

export const documentResponses = {
  200: t.NoValidate(
    t.Object(
      {
        openapi: t.String(),
        info: t.Record(t.String(), t.Unknown()),
        paths: t.Record(t.String(), t.Unknown()),
        components: t.Record(t.String(), t.Unknown()),
      },
      { additionalProperties: true, description: "An OpenAPI document" },
    ),
  ),
  500: problemDocument,
};
