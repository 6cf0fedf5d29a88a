import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test";
import { startWarmpath, type WarmpathProcess } from "../end-to-end/warmpath-process.ts";
import { browserTest, untilText, useBrowser } from "./browser.ts";

setDefaultTimeout(90_000);

const open = useBrowser();
const DEMO = new URL("../../scripts/demo.ts", import.meta.url).pathname;
const ENGINE = "engine-2:8000";
const ROW = `#fleet-view tr[data-key="${ENGINE}"]`;
const INSTRUCTION = `.demo li[data-key="${ENGINE}"]`;

let demo: WarmpathProcess;
let url: string;

beforeAll(async () => {
  demo = startWarmpath([], {}, DEMO);
  url = `http://127.0.0.1:${await demo.port}/`;
});

afterAll(async () => {
  demo.signal("SIGINT");
  expect(await demo.exitCode).toBe(0);
});

browserTest("The demo's page shows four engines, how to kill one, that it goes, and that it comes back", async () => {
  const { page, problems, close } = await open(url);
  await untilText(page, ".summary", /Streams in sync\s+4\s+of 4/, 20_000);
  // The traffic goes where Warmpath says.
  await untilText(page, ".decisions", "→ engine-", 20_000);
  await untilText(page, ROW, "in sync");

  const command = (await untilText(page, INSTRUCTION, "kill")).replace(ENGINE, "").trim();
  expect(command).toMatch(/^kill \d+$/);
  expect(Bun.spawnSync(["sh", "-c", command]).exitCode).toBe(0);
  await untilText(page, ROW, "the publisher disconnected");
  await page.locator(ROW).waitFor({ state: "detached", timeout: 20_000 });

  await untilText(page, ROW, "in sync", 30_000);
  expect(await untilText(page, INSTRUCTION, "kill")).not.toContain(command);
  expect(problems).toEqual([]);
  await close();
});
