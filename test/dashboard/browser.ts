/** Headless Chromium as tests use it: one for a file, a fresh profile for each page, and what went wrong on a page. */

import { afterAll, beforeAll, test } from "bun:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";

const isThere = await Bun.file(CHROMIUM).exists();
if (!isThere && Bun.env.CI)
  throw new Error(`Cannot test the dashboard: there is no ${CHROMIUM}, Debian's package chromium is needed`);
if (!isThere) console.log(`The dashboard's tests are skipped: there is no ${CHROMIUM}`);

/** A test that needs the browser. */
export const browserTest = test.skipIf(!isThere);

export interface OpenedPage {
  page: Page;
  /** Errors and warnings of the page's own, in order. */
  problems: string[];
  /** What was asked of any other origin. */
  outsideRequests: string[];
  close(): Promise<void>;
}

/** Starts the browser before the file's tests and ends it after them; returns what opens a page. */
export function useBrowser(): (url: string, options?: BrowserContextOptions) => Promise<OpenedPage> {
  let browser: Browser | null = null;
  beforeAll(async () => {
    if (!isThere) return;
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
        ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
      ],
    });
  });
  afterAll(() => browser?.close());

  return async (url, options = {}) => {
    if (browser === null) throw new Error("Cannot open a page: the browser has not started");
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const problems: string[] = [];
    const outsideRequests: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:")) outsideRequests.push(request.url());
    });
    await page.goto(url);
    return { page, problems, outsideRequests, close: () => context.close() };
  };
}

/** Waits until the text of the first element that `selector` finds has `part`; fails with the text. */
export async function untilText(page: Page, selector: string, part: string | RegExp, timeoutMs = 10_000): Promise<string> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    await page.locator(selector).first().waitFor({ state: "attached", timeout: timeoutMs });
    // As it is seen, with the breaks between cells.
    const [text = ""] = await page.locator(selector).allInnerTexts();
    if (typeof part === "string" ? text.includes(part) : part.test(text)) return text;
    if (Date.now() > deadline)
      throw new Error(`Waited in vain for ${part} in ${JSON.stringify(selector)}: ${JSON.stringify(text)}`);
    await Bun.sleep(50);
  }
}
