/**
 * Runs the tests of this folder in one Chromium.
 *
 *   node tests/viewer/run.js              all of them
 *   node tests/viewer/run.js search axe   those with one of these words in the name of their file
 */
import { fileURLToPath } from "node:url";
import { runStrictly } from "../strictly.js";
import { startChromium } from "./support/chromium.js";

const CONCURRENCY = 2;

const browser = await startChromium();
process.env.TOKEN2TEXT_CHROMIUM = browser.wsEndpoint();
try {
  const isGood = await runStrictly(fileURLToPath(new URL(".", import.meta.url)), { words: process.argv.slice(2), concurrency: CONCURRENCY });
  process.exitCode = isGood ? 0 : 1;
} finally {
  await browser.close();
}
