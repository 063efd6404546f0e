/** The page in Firefox, by WebDriver BiDi. */
import assert from "node:assert/strict";
import { test } from "node:test";
import puppeteer from "puppeteer-core";
import { fixture, tokenizerOf } from "./support/fixtures.js";
import { startView } from "./support/serve.js";

test("Firefox opens a trace, shows its text and tokens, searches, and breaks no policy", async () => {
  const server = await startView(["-t", tokenizerOf("qwen3"), fixture("rollouts/planted.jsonl")]);
  const browser = await puppeteer.launch({ browser: "firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", headless: true });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.setViewport({ width: 1280, height: 800 });
    /** @type {string[]} */
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(server.url);
    const see = (/** @type {string} */ selector) => page.waitForSelector(`pierce/${selector}`);
    await see("#line-1");
    await page.keyboard.press("n");
    await see("t2t-rollout-header");
    await page.keyboard.press("n");
    await see(".diverges");
    await page.keyboard.press("3");
    const token = await see("[data-t='22']");
    await token?.hover();
    await see("t2t-token-card");
    const text = await page.evaluate(() => {
      const view = /** @type {any} */ (document.querySelector("token2text-viewer")).shadowRoot.querySelector("t2t-rollout-view");
      return [...view.shadowRoot.querySelector("t2t-tokens").shadowRoot.querySelectorAll(".t")].map((span) => span.textContent).join("");
    });
    assert.match(text, /It will be rainy in Kyoto, about seventeen degrees\./);
    await page.keyboard.press("/");
    await page.keyboard.type("seventeen");
    await see("[role=option]");
    await page.keyboard.press("Enter");
    await see(".hit-now");
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    await server.stop();
  }
});
