import { describe, expect, test } from "bun:test";
import { createFakeApp } from "../fake-directory.ts";
import { scrape } from "./scraped.ts";

const REQUESTS = "warmpath_http_requests_total";

describe("Requests are counted", () => {
  test("Requests are counted by method, pattern of the route and status", async () => {
    const { app, post, send } = createFakeApp();
    await post('{"token_ids":[1,2]}');
    await post("{");
    await send("GET", "/v1/instances/10.0.0.5:8000");
    await send("POST", "/v1/route", { token_ids: [1] });
    const scraped = await scrape(app);
    const query = { method: "POST", route: "/v1/internal/kv-cache/query" };
    expect(scraped.value(REQUESTS, { ...query, status: 200 })).toBe(1);
    expect(scraped.value(REQUESTS, { ...query, status: 400 })).toBe(1);
    expect(scraped.value(REQUESTS, { method: "POST", route: "/v1/route", status: 503 })).toBe(1);
    expect(scraped.value("warmpath_http_request_duration_seconds_count", query)).toBe(2);
    expect(scraped.text).not.toContain("10.0.0.5");
  });

  test("Requests are counted that the token refuses, or that fail for no fault of theirs", async () => {
    const refusing = createFakeApp({ internalApiToken: "secret" });
    await refusing.post('{"token_ids":[1,2]}');
    expect((await scrape(refusing.app)).value(REQUESTS, { status: 401 })).toBe(1);
    const failing = createFakeApp();
    failing.directory.answer = new Error("broken");
    await failing.post('{"token_ids":[1,2]}');
    failing.directory.answer = [];
    expect((await scrape(failing.app)).value(REQUESTS, { status: 500 })).toBe(1);
  });

  test("Requests that fit no route are one series a status, whatever their path", async () => {
    const { app } = createFakeApp();
    for (const path of ["/a", "/b/c", "/v1/instances/x/y/z", "/%00"]) await app.handle(new Request(`http://localhost${path}`));
    await app.handle(new Request("http://localhost/metrics", { method: "DELETE" }));
    const scraped = await scrape(app);
    expect(scraped.value(REQUESTS, { method: "GET", route: "unrouted", status: 404 })).toBe(4);
    expect(scraped.value(REQUESTS, { method: "DELETE", route: "unrouted", status: 405 })).toBe(1);
  });

  test("Requests with a method that no route has are one series", async () => {
    const { app } = createFakeApp();
    for (const method of ["PROPFIND", "LOCK", "TRACE"]) await app.handle(new Request("http://localhost/x", { method }));
    expect((await scrape(app)).value(REQUESTS, { method: "other" })).toBe(3);
  });

  test("Requests that were answered without a body are counted with their own status", async () => {
    const { app, send } = createFakeApp();
    await send("POST", "/v1/route/a-request/finished", { phase: "cancel" });
    expect((await scrape(app)).value(REQUESTS, { route: "/v1/route/:id/finished", status: 204 })).toBe(1);
  });
});
