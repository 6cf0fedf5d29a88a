/** What a security reviewer asks of every route: who may use it, and what its answers tell a browser. */

import { expect, test } from "bun:test";
import { createFakeApp } from "./fake-directory.ts";
import { readProblem } from "./read-answer.ts";

const TOKEN = "0123456789abcdef";

/** Routes that need no token, and why. */
const OPEN_ROUTES = new Map([
  ["GET /", "a page that holds nothing of the fleet"],
  ["GET /healthz", "probes of an orchestrator have no token"],
  ["GET /readyz", "probes of an orchestrator have no token"],
  ["GET /metrics", "Prometheus has no token; counts only, no prompt"],
  ["GET /openapi", "describes the API, not the fleet"],
  ["GET /openapi/json", "describes the API, not the fleet"],
  ["GET /v1/instances", "addresses and load of instances; no prompt, and nothing changes"],
  ["GET /v1/instances/:name", "addresses and load of one instance; no prompt, and nothing changes"],
]);

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

const guardedRoutes = createFakeApp().app.routes.filter((route) => !OPEN_ROUTES.has(nameOf(route)));

const addressOf = (path: string) => `http://localhost${path.replaceAll(/:\w+/g, "a")}`;

/** A body that says whether anybody looked at it. */
function watchedBody() {
  let isRead = false;
  const body = new ReadableStream(
    {
      pull(controller) {
        isRead = true;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, isRead: () => isRead };
}

test("The list of open routes has no route that is not there", () => {
  const names = new Set(createFakeApp().app.routes.map(nameOf));
  expect([...OPEN_ROUTES.keys()].filter((name) => !names.has(name))).toEqual([]);
  expect(guardedRoutes.length).toBeGreaterThan(5);
});

test.each(guardedRoutes.map((route) => [nameOf(route), route] as const))(
  "%s answers 401 without the token or with another one, before it reads the body",
  async (_, { method, path }) => {
    const { app } = createFakeApp({ internalApiToken: TOKEN, notReady: ["starting"], notRouting: ["starting"] });
    for (const headers of [{}, { "x-internal-token": "" }, { "x-internal-token": `${TOKEN}0` }]) {
      const { body, isRead } = watchedBody();
      // Nor does it say anything of a content type or of its state to whoever may not ask.
      const response = await app.handle(
        new Request(addressOf(path), { method, headers, ...(method !== "GET" && { body, duplex: "half" }) }),
      );
      expect(response.status).toBe(401);
      expect((await readProblem(response)).type).toBe("/problems/token-required");
      expect(isRead()).toBe(false);
    }
  },
);

test.each(guardedRoutes.map((route) => [nameOf(route), route] as const))(
  "%s lets the token in, and everyone where none is configured",
  async (_, { method, path }) => {
    for (const internalApiToken of [TOKEN, ""]) {
      const { app } = createFakeApp({ internalApiToken });
      const response = await app.handle(new Request(addressOf(path), { method, headers: { "x-internal-token": TOKEN } }));
      expect(response.status).not.toBe(401);
      await response.body?.cancel();
    }
  },
);

const answers: [string, string, string][] = [
  ["a JSON answer", "GET", "/v1/instances"],
  ["a text answer", "GET", "/metrics"],
  ["the API's page", "GET", "/openapi"],
  ["a refusal", "POST", "/v1/route"],
  ["a path that is not there", "GET", "/nowhere"],
  ["another method", "DELETE", "/healthz"],
  ["a preflight", "OPTIONS", "/v1/route"],
];

test.each(answers)("App lets no browser keep, frame, guess at or share %s", async (_, method, path) => {
  const { app } = createFakeApp();
  const headers = { origin: "https://elsewhere.example", "access-control-request-method": "POST" };
  const response = await app.handle(new Request(`http://localhost${path}`, { method, headers }));
  const found = Object.fromEntries(response.headers);
  expect(found).toMatchObject({
    "cache-control": "no-store",
    "content-security-policy": expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
  const telling = Object.keys(found).filter((name) => /^(access-control-|server$|x-powered-by$|set-cookie$)/.test(name));
  expect(telling).toEqual([]);
});
