/** A page with the viewer, and what a person does in it. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { connectChromium } from "./chromium.js";
import { startView } from "./serve.js";
import { countElements, watch } from "./watch.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("playwright-core").BrowserContextOptions} ContextOptions */
/**
 * @typedef {object} OpenOptions
 * @property {string} [url] Default: the empty page of `token2text view`.
 * @property {string[]} [origins] Further origins that may be asked.
 * @property {RegExp} [expected] Errors on the console that are meant.
 * @property {ContextOptions} [context]
 * @property {(page: Page) => Promise<unknown>} [prepare] Before the page is opened.
 */

const LONGEST_MS = 60_000;
const LONGEST_LIST_MS = 180_000;
/** More elements no page of the viewer has. */
export const MOST_ELEMENTS = 3000;

/** @type {import("playwright-core").Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startView>>} */
let empty;
before(async () => {
  [browser, empty] = await Promise.all([connectChromium(), startView()]);
});
after(async () => {
  await browser?.close();
  await empty?.stop();
});

/** Address of the page without files. */
export const emptyUrl = () => empty.url;

/**
 * Opens the page, runs the task, and fails if anything happened that never may.
 *
 * @template T
 * @param {OpenOptions} options
 * @param {(page: Page) => Promise<T>} task
 * @returns {Promise<T>}
 */
export async function withViewer({ url = empty.url, origins = [], expected, context: given, prepare }, task) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...given });
  context.setDefaultTimeout(LONGEST_MS);
  try {
    const page = await context.newPage();
    const watched = await watch(page, { origins: [new URL(url).origin, ...origins], expected });
    await prepare?.(page);
    await page.goto(url);
    /** @type {T} */
    let result;
    try {
      result = await task(page);
    } catch (error) {
      // What went wrong in the page often says why.
      const { wrong } = watched;
      if (wrong.length > 0 && error instanceof Error) error.message += `\nBefore that: ${wrong.join("\n")}`;
      throw error;
    }
    assert.deepEqual(await watched.told(), []);
    const count = await countElements(page);
    assert.ok(count < MOST_ELEMENTS, `${count} elements`);
    return result;
  } finally {
    await context.close();
  }
}

/**
 * Starts `token2text view` with these files and opens its page.
 *
 * @template T
 * @param {string[]} args
 * @param {(page: Page, server: { url: string, origin: string }) => Promise<T>} task
 * @param {Omit<OpenOptions, "url"> & { hash?: string }} [options]
 */
export async function withFiles(args, task, { hash = "", ...options } = {}) {
  const server = await startView(args);
  try {
    return await withViewer({ ...options, url: server.url + hash }, (page) => task(page, server));
  } finally {
    await server.stop();
  }
}

/** The rows of the list that exist. @param {Page} page */
export const rowsOf = (page) => page.locator("t2t-list [role=row][data-line]:not(.group)");

/** Waits until so many rollouts are in the list. @param {Page} page @param {number} count */
export async function waitForRollouts(page, count) {
  const words = `${count.toLocaleString("en")} ${count === 1 ? "rollout" : "rollouts"}`;
  await page.locator("t2t-list .status", { hasText: new RegExp(`(^|\\s)${words}(?! so far)`) }).waitFor({ timeout: LONGEST_LIST_MS });
}

/** Opens a rollout by a click on its row. @param {Page} page @param {number} [nth] */
export async function openRollout(page, nth = 0) {
  await rowsOf(page).nth(nth).click();
  await page.locator("t2t-rollout-header").waitFor();
}

/** @param {Page} page @param {"Chat" | "Text" | "Tokens" | "Raw"} name */
export async function openTab(page, name) {
  await page.locator("t2t-rollout-view").getByRole("tab", { name, exact: true }).click();
  await page.locator(`t2t-${name.toLowerCase()}`).waitFor();
}

/**
 * Drops files or folders of this machine, as the window manager would.
 *
 * @param {Page} page
 * @param {string[]} paths
 */
export async function drop(page, paths) {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of /** @type {const} */ (["dragEnter", "dragOver", "drop"])) await session.send("Input.dispatchDragEvent", { type, x: 600, y: 250, data });
  await session.detach();
}
