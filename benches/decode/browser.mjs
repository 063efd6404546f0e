/** The same contests and loads in headless Chromium; a page for each. */
import { chromium } from "playwright-core";
import { ROOT } from "../../scripts/lib.js";
import { policy, serve } from "../../tests/packaging/support/server.js";
import { waysOf } from "./loads.mjs";
import { PEERS } from "./peers.mjs";
import { medians } from "./processes.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ contest: import("./contest.mjs").Options, loadRounds: number, log: (text: string) => void }} Options */

/** Importing these takes a page up to a minute, for there is a vocabulary in their code. */
const HAVE_THEIR_OWN = new Set(PEERS.filter(({ encodings }) => encodings).map(({ name }) => name));

/** With the address of page.html. @template T @param {(browser: import("playwright-core").Browser, url: string) => Promise<T>} task */
async function withBrowser(task) {
  // The import map stands in the page.
  const server = await serve(ROOT, policy({ script: "'self' 'unsafe-inline' 'wasm-unsafe-eval'" }));
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
  try {
    return await task(browser, `${server.url}benches/decode/page.html`);
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** @param {string[]} keys @param {Options} options @returns {Promise<import("./report.mjs").Figures & { version: string }>} */
export function inBrowser(keys, { contest, loadRounds, log }) {
  return withBrowser(async (browser, url) => {
    /** @template T @param {(page: Page) => Promise<T>} task */
    const inPage = async (task) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      page.on("console", (message) => log(message.text()));
      await page.goto(url);
      await page.waitForFunction("globalThis.contest");
      const result = await task(page);
      await context.close();
      return result;
    };
    const call = (/** @type {string} */ name, /** @type {unknown[]} */ ...given) => {
      const code = `${name}(${given.map((value) => JSON.stringify(value)).join(", ")})`;
      return inPage((page) => page.evaluate(code));
    };
    /** @type {import("./report.mjs").Figures} */
    const figures = { decode: [], load: [] };
    for (const key of keys) {
      figures.decode.push(...(await call("contest", key, contest)));
      /** @type {Map<string, import("./loads.mjs").Once[]>} */
      const results = new Map(waysOf(key).filter((way) => !HAVE_THEIR_OWN.has(way)).map((way) => [way, []]));
      for (let round = 0; round < loadRounds; round++) {
        for (const [way, times] of results) times.push(await call("loadTwice", key, way));
      }
      figures.load.push(...[...results].map(([way, times]) => medians(key, way, times)));
    }
    return { ...figures, version: `Chromium ${browser.version()}` };
  });
}
