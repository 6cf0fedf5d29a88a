/**
 * Makes the dashboard one document without anything to fetch: the page of `src/dashboard` with its script and style inside. In the
 * executable this module is replaced by one that holds the result.
 */

import { dirname, join } from "node:path";

/** The tags of the page that are replaced by what they name. */
const SCRIPT_TAG = '<script type="module" src="./main.ts"></script>';
const STYLE_TAG = '<link rel="stylesheet" href="./style.css">';

/** Throws when the sources do not compile, with the compiler's messages. */
export async function bundlePage(): Promise<string> {
  const folder = join(dirname(import.meta.dir), "..", "dashboard");
  const { outputs } = await Bun.build({
    entrypoints: [join(folder, "main.ts"), join(folder, "style.css")],
    target: "browser",
    minify: true,
  });
  const textOf = async (extension: string) => (await outputs.find(({ path }) => path.endsWith(extension))?.text())?.trim() ?? "";
  const page = await Bun.file(join(folder, "index.html")).text();
  const styled = replaceTag(page, STYLE_TAG, `<style>${await textOf(".css")}</style>`);
  return replaceTag(styled, SCRIPT_TAG, `<script type="module">${await textOf(".js")}</script>`);
}

function replaceTag(page: string, tag: string, replacement: string): string {
  const [before, after, ...more] = page.split(tag);
  if (after === undefined || more.length > 0) throw new Error(`Cannot bundle the dashboard: its page must have ${tag} once`);
  return before + replacement + after;
}
