/** Headless Chromium for the tests of the page. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Runs the task with a fresh page, and fails if the page had an error of its own.
 *
 * @template T
 * @param {import("playwright-core").BrowserContextOptions & { ignored?: RegExp }} options `ignored`: errors that are none.
 * @param {(page: import("playwright-core").Page) => Promise<T>} task
 * @returns {Promise<T>}
 */
export async function withPage({ ignored, ...options }, task) {
  const profile = mkdtempSync(join(tmpdir(), "token2text-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ARGS,
    ...options,
  });
  try {
    const page = await context.newPage();
    /** @type {string[]} */
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => {
      const { url } = message.location();
      // Browsers ask for an icon by themselves.
      if (message.type() === "error" && !url.endsWith("/favicon.ico") && !ignored?.test(message.text())) errors.push(`${message.text()} (${url})`);
    });
    const result = await task(page);
    if (errors.length > 0) throw new Error(`the page had errors: ${errors.join("; ")}`);
    return result;
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}
