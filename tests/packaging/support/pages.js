/** Pages in real browsers. A page leaves a promise in `globalThis.results`. */
import assert from "node:assert/strict";
import puppeteer from "puppeteer-core";
import { withPage } from "../../js/support/browser.js";
import { major } from "./versions.js";

/** @typedef {{ results: any, version: string }} Outcome */
/** @typedef {(url: string, expected?: RegExp) => Promise<Outcome>} Open With the errors that the page may have. */

const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

// The scripts of a page have run when it is loaded; results that never come are the test runner's to end.
const RESULTS = "globalThis.results";

/** Fails on any error of the page. @type {Open} */
export async function openInChromium(url) {
  return withPage({}, async (page) => {
    await page.goto(url);
    return { results: await page.evaluate(RESULTS), version: major(page.context().browser()?.version() ?? "") };
  });
}

/** Firefox speaks WebDriver BiDi. It tells of a broken policy on the console too. @type {Open} */
export async function openInFirefox(url, expected) {
  const browser = await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true });
  try {
    const page = await browser.newPage();
    /** @type {string[]} */
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(url);
    const results = await page.evaluate(RESULTS);
    assert.deepEqual(errors.filter((error) => !expected?.test(error)), [], "the page had errors");
    return { results, version: major(await browser.version()) };
  } finally {
    await browser.close();
  }
}

/**
 * Opens the page of a server of ours and fails if it broke the policy.
 *
 * @param {{ url: string, reports: string[], stop: () => Promise<void> }} server
 * @param {Open} open
 */
export async function openServed(server, open) {
  try {
    const outcome = await open(server.url);
    assert.deepEqual(server.reports, [], "the Content-Security-Policy was broken");
    return outcome;
  } finally {
    await server.stop();
  }
}
