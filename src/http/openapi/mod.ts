/** `GET /openapi`, the API as a page, and `GET /openapi/json`, the document that the page is made from. */

import { type AnyElysia, Elysia } from "elysia";
import { version } from "../../../package.json";
import type { ApiDocument } from "./api-document.ts";
import { describeApi } from "./document.ts";
import { PAGE_SECURITY_POLICY, renderPage } from "./page.ts";
import { documentResponses, pageResponses } from "./schema.ts";

/** Describes `app`, whose routes are looked at when somebody asks, and then for good. */
export function createOpenApiRoutes(app: AnyElysia, internalApiToken: string) {
  let described: Promise<ApiDocument> | null = null;
  const describe = () => {
    described ??= describeApi(app, { version, needsToken: internalApiToken !== "" });
    return described;
  };

  return new Elysia({ prefix: "/openapi", tags: ["api"] })
    .get(
      "",
      async ({ set }) => {
        set.headers["content-type"] = "text/html; charset=utf-8";
        set.headers["content-security-policy"] = PAGE_SECURITY_POLICY;
        return renderPage(await describe());
      },
      { response: pageResponses, detail: { summary: "This API as a page" } },
    )
    .get("/json", () => describe(), {
      response: documentResponses,
      detail: { summary: "This API as an OpenAPI 3.1 document" },
    });
}
