/** `GET /`: the dashboard, one page; and the live feed that it shows. */

import { Elysia } from "elysia";
import type { AppDependencies } from "../dependencies.ts";
import { createInternalTokenCheck } from "../internal-token.ts";
import { LiveFeed } from "./live-feed.ts";
import { loadPage } from "./page.ts";
import { liveResponses, pageResponses } from "./schema.ts";

/** The page holds nothing of the fleet; the feed shows decisions, and needs the token. */
export function createDashboardRoutes(sources: AppDependencies) {
  const checkToken = createInternalTokenCheck(sources.internalApiToken);
  const feed = new LiveFeed(sources);

  return new Elysia({ tags: ["dashboard"] })
    .get(
      "/",
      async ({ set }) => {
        const { html, contentSecurityPolicy } = await loadPage();
        set.headers["content-type"] = "text/html; charset=utf-8";
        set.headers["content-security-policy"] = contentSecurityPolicy;
        set.headers["cache-control"] = "no-cache";
        return html;
      },
      { response: pageResponses, detail: { summary: "The dashboard" } },
    )
    .get(
      "/v1/internal/dashboard/live",
      ({ set }) => {
        const stream = feed.subscribe();
        set.headers["content-type"] = "text/event-stream";
        set.headers["cache-control"] = "no-store";
        // Proxies that gather what they pass on would hold the events back.
        set.headers["x-accel-buffering"] = "no";
        return new Response(stream);
      },
      {
        beforeHandle: ({ request }) => checkToken(request.headers),
        response: liveResponses,
        detail: {
          summary: "What the dashboard shows, as server-sent events",
          description:
            "One event a second, its data a JSON object. For the page of the same version; other programs have /v1/instances.",
        },
      },
    );
}
