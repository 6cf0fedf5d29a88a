import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from "bun:test";
import { browserTest, untilText, useBrowser } from "./browser.ts";
import { tokensFrom, WatchedFleet } from "./watched-fleet.ts";

setDefaultTimeout(60_000);

const open = useBrowser();
const NEAR = "near:8000";
const FAR = "far:8000";
const PROMPT = tokensFrom(7, 160);

let fleet: WatchedFleet;

beforeAll(async () => {
  fleet = await WatchedFleet.start();
  await fleet.add(NEAR, [PROMPT]);
  await fleet.add(FAR, [PROMPT.subarray(0, 64)]);
});

afterAll(() => fleet.stop());

/** The page's background, as an expression of its own. */
const GROUND = "getComputedStyle(document.documentElement).backgroundColor";

const rowOf = (name: string) => `#fleet-view tr[data-key="${name}"]`;

describe("The dashboard", () => {
  browserTest("shows each instance, without an error and without a request to anywhere else", async () => {
    const { page, problems, outsideRequests, close } = await open(fleet.url);
    const row = await untilText(page, rowOf(NEAR), "in sync");
    expect(row).toContain("xllm · 127.0.0.1:9 · http");
    expect(row).toContain("ACTIVE");
    expect(row).toContain("takes requests");
    expect(row).toContain("10 · 0 · 0 of 262,144");
    expect(row).toContain("2 waiting · 25 % full");
    await untilText(page, rowOf(FAR), "4 · 0 · 0 of 262,144");
    await untilText(page, "#connection", "Live");
    expect(await page.locator(".chart canvas").count()).toBe(2);
    expect(problems).toEqual([]);
    expect(outsideRequests).toEqual([]);
    await close();
  });

  browserTest("shows decisions as they are made, with the candidates and why", async () => {
    const { page, close } = await open(fleet.url);
    await untilText(page, rowOf(NEAR), "in sync");
    await fleet.post("v1/route", { token_ids: [...PROMPT], request_id: "watched-request" });
    const summary = await untilText(page, ".decisions li summary", "watched-request");
    expect(summary).toContain("160 tokens");
    expect(summary).toContain(`→ ${NEAR}`);
    await page.locator(".decisions summary").first().click();
    const rows = await page.locator(".decisions details[open] tbody tr").allInnerTexts();
    expect(rows.map((row) => row.split(/\s+/))).toEqual([
      [NEAR, "prefill", "100", "%", "2", "1.00", "0.500", "chosen"],
      [FAR, "prefill", "40", "%", "2", "1.00", "0.800", "higher", "score"],
    ]);
    // What is open stays open while others come.
    await fleet.post("v1/route", { token_ids: [1], request_id: "another-request" });
    await untilText(page, ".decisions li summary", "another-request");
    await untilText(page, ".decisions details[open] summary", "watched-request");
    await close();
  });

  browserTest("shows in the explorer what the query API answers", async () => {
    const { page, problems, close } = await open(fleet.url);
    const prompt = [...PROMPT.subarray(0, 100), ...tokensFrom(5000, 60)];
    await untilText(page, rowOf(NEAR), "in sync");
    await untilText(page, rowOf(FAR), "in sync");
    await page.fill("#tokens", prompt.join(" "));
    await page.click("#explorer-form button[type=submit]");
    await untilText(page, "#explorer-view", "160 tokens; at best 96 are held, 60 %");
    const { matches } = (await fleet.post("v1/internal/kv-cache/query", { token_ids: prompt })) as { matches: Match[] };
    const rows = await page.locator("#explorer-view tbody tr").all();
    const shown = await Promise.all(
      rows.map(async (row) => {
        const cells = await row.locator("td").allInnerTexts();
        const bar = row.locator(".tiers span");
        const widths = await bar.evaluateAll((parts) => parts.map((part) => `${part.className} ${part.getAttribute("style")}`));
        return { cells: cells.map((cell) => cell.split("\n")[0]), widths };
      }),
    );
    expect(shown).toEqual(
      matches.map((match) => ({
        cells: [
          match.instance_name,
          String(match.dp_rank),
          "",
          String(match.device_hit_tokens),
          String(match.host_only_hit_tokens),
          String(match.disk_only_hit_tokens),
          String(match.reusable_prefix_tokens),
        ],
        widths: [`device width: ${(match.device_hit_tokens / 160) * 100}%;`],
      })),
    );
    expect(matches.map((match) => match.device_hit_tokens)).toEqual([64, 96]);
    expect(problems).toEqual([]);
    await close();
  });

  browserTest("says in the explorer what is not a token id", async () => {
    const { page, close } = await open(fleet.url);
    await untilText(page, rowOf(NEAR), "in sync");
    await page.fill("#tokens", "Once upon a time");
    await page.click("#explorer-form button[type=submit]");
    await untilText(page, "#tokens-error", 'Found "Once" as number 1');
    await close();
  });

  browserTest("shows that an engine has gone, and that it is back", async () => {
    const { page, problems, close } = await open(fleet.url);
    await untilText(page, rowOf(FAR), "in sync");
    fleet.kill(FAR);
    await untilText(page, rowOf(FAR), /disconnected|SUSPECT/);
    await untilText(page, ".summary", /Streams in sync\s+1/);
    await page.locator(rowOf(FAR)).waitFor({ state: "detached", timeout: 20_000 });
    await untilText(page, ".summary", /Serving\s+1\s+of 1/);
    await fleet.bringBack(FAR);
    await untilText(page, rowOf(FAR), "in sync");
    await untilText(page, rowOf(FAR), "0 · 0 · 0 of");
    expect(problems).toEqual([]);
    await close();
  });

  browserTest("is used from the keyboard alone", async () => {
    const { page, close } = await open(fleet.url);
    await untilText(page, rowOf(NEAR), "in sync");
    await fleet.post("v1/route", { token_ids: [...PROMPT], request_id: "by-keyboard" });
    await untilText(page, ".decisions li summary", "by-keyboard");
    const focused = () => page.evaluate<string>("document.activeElement.textContent.trim()");
    const focusedId = () => page.evaluate<string>("document.activeElement.id");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the fleet");
    await page.keyboard.press("Enter");
    expect(await focusedId()).toBe("main");
    await page.keyboard.press("Tab");
    expect(await focusedId()).toBe("show-all");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    expect(await page.getAttribute("#hold", "aria-pressed")).toBe("true");
    await page.keyboard.press("Tab");
    expect(await focused()).toContain("by-keyboard");
    await page.keyboard.press("Enter");
    expect(await page.locator(".decisions li").first().locator("details[open]").count()).toBe(1);
    await page.focus("#tokens");
    await page.keyboard.type("7 8 9");
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await untilText(page, "#explorer-view", "3 tokens; nobody holds a block of them.");
    await close();
  });

  for (const colorScheme of ["light", "dark"] as const) {
    browserTest(`fits a phone of 360 pixels, ${colorScheme}`, async () => {
      const { page, problems, close } = await open(fleet.url, { viewport: { width: 360, height: 780 }, colorScheme });
      await untilText(page, rowOf(NEAR), "in sync");
      await page.fill("#tokens", "[7, 8, 9]");
      await page.click("#explorer-form button[type=submit]");
      await untilText(page, "#explorer-view", "3 tokens");
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(360);
      const ground = await page.evaluate<string>(GROUND);
      expect(ground).toBe(colorScheme === "light" ? "rgb(247, 247, 245)" : "rgb(17, 18, 20)");
      expect(problems).toEqual([]);
      await close();
    });
  }

  browserTest("keeps the theme that the reader has chosen", async () => {
    const { page, close } = await open(fleet.url, { colorScheme: "light" });
    for (const theme of ["light", "dark"]) {
      await page.click("#theme");
      expect(await page.textContent("#theme")).toBe(`Theme: ${theme}`);
    }
    await page.reload();
    expect(await page.textContent("#theme")).toBe("Theme: dark");
    expect(await page.evaluate<string>(GROUND)).toBe("rgb(17, 18, 20)");
    await close();
  });
});

describe("The dashboard of a Warmpath with a token", () => {
  let guarded: WatchedFleet;
  beforeAll(async () => {
    guarded = await WatchedFleet.start("s3cret");
    await guarded.add(NEAR, [PROMPT]);
  });
  afterAll(() => guarded.stop());

  browserTest("asks for it, refuses another, and shows nothing before", async () => {
    const { page, close } = await open(guarded.url);
    await page.locator("#token").waitFor({ state: "visible" });
    expect(await page.locator("#content").isVisible()).toBe(false);
    await page.keyboard.type("another");
    await page.keyboard.press("Enter");
    await untilText(page, "#token-error", "That is another token.");
    await page.keyboard.type("s3cret");
    await page.keyboard.press("Enter");
    await untilText(page, rowOf(NEAR), "in sync");
    expect(await page.locator("#token").isVisible()).toBe(false);
    await page.fill("#tokens", PROMPT.join(","));
    await page.click("#explorer-form button[type=submit]");
    await untilText(page, "#explorer-view", "at best 160 are held");
    expect(await page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")).toBe(
      '[{},{},""]',
    );
    await close();
  });
});

describe("The dashboard of an empty fleet", () => {
  let empty: WatchedFleet;
  beforeAll(async () => {
    empty = await WatchedFleet.start();
  });
  afterAll(() => empty.stop());

  browserTest("gives the command that registers an instance", async () => {
    const { page, problems, close } = await open(empty.url);
    const command = await untilText(page, ".first-steps pre", "curl");
    expect(command).toContain(`${empty.url}v1/instances`);
    const { exitCode, stdout } = Bun.spawnSync(["sh", "-c", command]);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({
      exitCode: 0,
      stdout: '{"name":"10.0.0.5:8000","outcome":"registered"}',
    });
    const row = await untilText(page, rowOf("10.0.0.5:8000"), "not in sync");
    expect(row).toContain("load unknown");
    expect(problems).toEqual([]);
    await close();
  });
});

interface Match {
  instance_name: string;
  dp_rank: number;
  device_hit_tokens: number;
  host_only_hit_tokens: number;
  disk_only_hit_tokens: number;
  reusable_prefix_tokens: number;
}
