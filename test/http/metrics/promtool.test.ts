/** What a busy service exports, before Prometheus' own linter. */

import { expect, test } from "bun:test";
import { isPromtoolThere, promtool } from "../../docker/prometheus-files.ts";
import { createBusyApp } from "./busy-app.ts";
import { scrape } from "./scraped.ts";

if (!isPromtoolThere) console.log("promtool is not installed (Debian package prometheus): the exposition is not checked by it");

test.skipIf(!isPromtoolThere && process.env.CI !== "true")("promtool has nothing against the exposition", async () => {
  const { app } = await createBusyApp();
  await scrape(app); // so that an answer has been counted
  const { text } = await scrape(app);
  expect(await promtool(["check", "metrics"], text)).toEqual({ exitCode: 0, output: "" });
});
