/** The dashboard's page, ready to be sent, and the policy that keeps a browser to exactly what it is made of. */

import { createHash } from "node:crypto";

export interface Page {
  html: string;
  /** The value of `Content-Security-Policy`: the page's own script and style, by their digests, and requests to where it came from. */
  contentSecurityPolicy: string;
}

let loading: Promise<Page> | null = null;

/** Bundled at the first look, in a tenth of a second, and kept. A failure is not kept. */
export function loadPage(): Promise<Page> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load(): Promise<Page> {
  // Only who opens the page pays for the bundler.
  const { bundlePage } = await import("./bundle.ts");
  const html = await bundlePage();
  return { html, contentSecurityPolicy: contentSecurityPolicy(html) };
}

function contentSecurityPolicy(html: string): string {
  return [
    "default-src 'none'",
    `script-src ${digestOf(html, "script")}`,
    `style-src ${digestOf(html, "style")}`,
    "connect-src 'self'",
    // The icon in the page's tab.
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The digest of the text of the one element of this name. */
function digestOf(html: string, name: "script" | "style"): string {
  const text = html.split(new RegExp(`<${name}[^>]*>|</${name}>`), 3)[1] ?? "";
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
