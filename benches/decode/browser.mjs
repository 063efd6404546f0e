/** The same contests and loads in headless Chromium; a page for each. */
import { chromium } from "playwright-core";
import { ROOT } from "../../scripts/lib.js";
import { policy, serve } from "../../tests/packaging/support/server.js";
import { waysOf } from "./loads.mjs";
import { PEERS } from "./peers.mjs";
import { mediansOf } from "./processes.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ contest: import("./contest.mjs").Options, loadRounds: number }} Options */

/** Importing these takes a page up to a minute, for there is a vocabulary in their code: their loading is not asked again. */
const HAVE_THEIR_OWN = new Set(PEERS.filter(({ encodings }) => encodings).map(({ name }) => name));

/** @param {string[]} keys @param {Options} options @returns {Promise<import("./report.mjs").Figures & { version: string }>} */
export async function inBrowser(keys, { contest, loadRounds }) {
  // The import map stands in the page.
  const server = await serve(ROOT, policy({ script: "'self' 'unsafe-inline' 'wasm-unsafe-eval'" }));
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
  /** @param {string} name Of a function of page.mjs. @param {unknown[]} given */
  const inPage = async (name, ...given) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}benches/decode/page.html`);
    await page.waitForFunction("globalThis.contest");
    const result = await page.evaluate(`${name}(${given.map((value) => JSON.stringify(value)).join(", ")})`);
    await context.close();
    return result;
  };
  /** @type {import("./report.mjs").Figures} */
  const figures = { decode: [], faults: [], load: [] };
  try {
    for (const key of keys) {
      /** @type {import("./contest.mjs").Outcome} */
      const outcome = await inPage("contest", key, contest);
      figures.decode.push(...outcome.decode);
      figures.faults.push(...outcome.faults);
      const ways = waysOf(key).filter((way) => !HAVE_THEIR_OWN.has(way));
      figures.load.push(...(await mediansOf(key, ways.map((way) => [way, () => inPage("loadTwice", key, way)]), loadRounds)));
    }
    return { ...figures, version: `Chromium ${browser.version()}` };
  } finally {
    await browser.close();
    await server.stop();
  }
}
