/**
 * The viewer in Chromium: how long until the first rollouts of 50 MB are there, and all of them, beside JSON.parse on each line in the
 * viewer's own worker; how long the page is held up; how much it fetches. Writes its part of benches/RESULTS.md.
 *
 *   node benches/viewer.mjs [--runs 5]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { transferred } from "../scripts/build-viewer.js";
import { fetchTokenizer } from "../scripts/fetch-tokenizer.js";
import { withPage } from "../tests/js/support/browser.js";
import { chatMl } from "../tests/js/support/tokenizers.js";
import { longCall, manyRollouts, verlRollouts } from "../tests/viewer/support/large.js";
import { startView } from "../tests/viewer/support/serve.js";
import { median, row, writeResults } from "./lib.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** What a run measured, by name. @typedef {Record<string, number>} Figures */

const HEADING = "# Results of `make bench-viewer`";
const MEGABYTE = 1e6;
const LONGEST_MS = 300_000;
/** A page has been open for so long when files are picked: a person looks for them first. */
const OPEN_MS = 3000;
const { values } = parseArgs({ options: { runs: { type: "string", default: "5" } } });

/** What is measured: how it is written, and its target. @type {{ name: string, title: string, unit: string, most?: number }[]} */
const FIGURES = [
  { name: "parse", title: "JSON.parse on each line of 50 MB, in the worker", unit: "ms" },
  { name: "first", title: "first rollouts of 50 MB", unit: "ms" },
  { name: "firstRatio", title: "first rollouts, beside JSON.parse", unit: "x", most: 0.3 },
  { name: "whole", title: "all rollouts of 50 MB", unit: "ms" },
  { name: "wholeRatio", title: "all rollouts, beside JSON.parse", unit: "x", most: 3 },
  { name: "loadTask", title: "longest task of the page while 50 MB are opened", unit: "ms", most: 50 },
  { name: "scrollTask", title: "longest task while 32,768 tokens are scrolled", unit: "ms", most: 50 },
  { name: "sort", title: "100,000 rollouts sorted and drawn", unit: "ms" },
  { name: "sortTask", title: "longest task while they are sorted and scrolled", unit: "ms", most: 50 },
  { name: "million", title: "a call of 1,000,000 tokens opened", unit: "ms" },
  { name: "millionTask", title: "longest task while it is opened and scrolled", unit: "ms", most: 50 },
  { name: "gzip", title: "fetched before files can be dropped, gzip", unit: "kB", most: 150 },
];

/** Runs in the page: from now on `measured` knows long tasks, and when a file was picked. */
function instrument() {
  const measured = { longest: 0, picked: 0, first: 0, whole: 0 };
  Object.assign(globalThis, { measured });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) measured.longest = Math.max(measured.longest, duration);
  }).observe({ type: "longtask" });
  addEventListener("DOMContentLoaded", () => document.body.addEventListener("loaded", () => (measured.whole = performance.now())));
}

/** Gives files to the page, as if they were picked. @param {Page} page @param {string} file */
async function pick(page, file) {
  await page.evaluate(() => {
    const viewer = /** @type {any} */ (document.querySelector("token2text-viewer")).shadowRoot;
    const input = viewer.querySelector("t2t-sources").shadowRoot.querySelector("input.files");
    const { measured } = /** @type {any} */ (globalThis);
    const look = () => {
      const line = viewer.querySelector("t2t-list")?.shadowRoot.querySelector("[data-line]");
      if (line?.getClientRects().length) measured.first = performance.now();
      else requestAnimationFrame(look);
    };
    input.addEventListener(
      "change",
      () => {
        Object.assign(measured, { longest: 0, picked: performance.now(), first: 0, whole: 0 });
        look();
      },
      { capture: true, once: true },
    );
  });
  await page.locator("t2t-sources input.files").setInputFiles(file);
}

/** The longest task since it was asked the last time. @param {Page} page @returns {Promise<number>} */
const longest = (page) =>
  page.evaluate(async () => {
    const { measured } = /** @type {any} */ (globalThis);
    // What was observed is told a moment later.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { longest } = measured;
    measured.longest = 0;
    return longest;
  });

/** Scrolls from the beginning to the end in steps, one a frame. @param {Page} page @param {string} scroller */
const scroll = (page, scroller) =>
  page.locator(scroller).evaluate(async (element) => {
    for (let step = 0; step <= 120; step++) {
      element.scrollTop = (step / 120) * element.scrollHeight;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });

/** @param {string} url @param {string} tokenizer @param {(page: Page) => Promise<Figures>} task */
function inPage(url, tokenizer, task) {
  return withPage({ viewport: { width: 1280, height: 800 } }, async (page) => {
    page.setDefaultTimeout(LONGEST_MS);
    await page.addInitScript(instrument);
    await page.goto(url);
    await page.locator("t2t-sources input.files").setInputFiles(tokenizer);
    await page.locator(".mark.done").first().waitFor();
    await page.waitForTimeout(OPEN_MS);
    // What Playwright waits with is put into the page at its first use: not while something is timed.
    await page.waitForFunction(() => true);
    return task(page);
  });
}

const folder = mkdtempSync(join(tmpdir(), "token2text-bench-"));
const file = (/** @type {string} */ name, /** @type {string} */ text) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const QWEN = join(fetchTokenizer("qwen3"), "tokenizer.json");
const SMALL = file("tokenizer.json", JSON.stringify(chatMl()));
const LARGE = file("large.jsonl", verlRollouts(50 * MEGABYTE));
const MANY = file("many.jsonl", manyRollouts(100_000));
const SCROLLED = file("scrolled.jsonl", longCall(32_768));
const MILLION = file("million.jsonl", longCall(1_000_000));
// The files are served too, so that the worker can read what it parses.
const server = await startView([LARGE]);
const served = new URL(server.url).searchParams.get("trace") ?? "";

/** @type {((url: string) => Promise<Figures>)[]} */
const PARTS = [
  (url) =>
    inPage(url, QWEN, async (page) => {
      await pick(page, LARGE);
      await page.waitForFunction(() => /** @type {any} */ (globalThis).measured.whole > 0 && /** @type {any} */ (globalThis).measured.first > 0);
      const { picked, first, whole } = await page.evaluate(() => /** @type {any} */ (globalThis).measured);
      const loadTask = await longest(page);
      const parse = await page.workers()[0].evaluate(async (url) => {
        const lines = (await (await fetch(url)).text()).split("\n").filter(Boolean);
        const start = performance.now();
        for (const line of lines) JSON.parse(line);
        return performance.now() - start;
      }, new URL(served, url).href);
      return { parse, first: first - picked, whole: whole - picked, firstRatio: (first - picked) / parse, wholeRatio: (whole - picked) / parse, loadTask };
    }),
  (url) =>
    inPage(url, SMALL, async (page) => {
      await pick(page, SCROLLED);
      await page.locator("t2t-list [data-line]").first().click();
      await page.getByRole("tab", { name: "Tokens" }).click();
      await page.locator("t2t-tokens [data-row]").first().waitFor();
      await longest(page);
      await scroll(page, "t2t-tokens .scroller");
      return { scrollTask: await longest(page) };
    }),
  (url) =>
    inPage(url, SMALL, async (page) => {
      await pick(page, MANY);
      await page.waitForFunction(() => /** @type {any} */ (globalThis).measured.whole > 0);
      await page.locator("t2t-list .status", { hasText: "100,000 rollouts" }).waitFor();
      await page.locator("t2t-list .status progress").waitFor({ state: "detached" });
      await longest(page);
      const sort = await page.locator("t2t-list").evaluate(async (/** @type {any} */ list) => {
        const heading = [...list.shadowRoot.querySelectorAll("[role=columnheader] button")].find((button) => button.textContent.includes("Reward"));
        const start = performance.now();
        heading.click();
        await new Promise((resolve) => list.addEventListener("arranged", resolve, { once: true }));
        await new Promise((resolve) => requestAnimationFrame(resolve));
        return performance.now() - start;
      });
      await scroll(page, "t2t-list .grid");
      return { sort, sortTask: await longest(page) };
    }),
  (url) =>
    inPage(url, SMALL, async (page) => {
      await pick(page, MILLION);
      await page.locator("t2t-list [data-line]").first().click();
      await page.locator("t2t-rollout-header").waitFor();
      await longest(page);
      const start = Date.now();
      await page.getByRole("tab", { name: "Tokens" }).click();
      await page.locator("t2t-tokens [data-row]").first().waitFor();
      const million = Date.now() - start;
      await scroll(page, "t2t-tokens .scroller");
      return { million, millionTask: await longest(page) };
    }),
];

/** @type {Figures[]} */
const runs = [];
try {
  for (let run = 0; run < Number(values.runs); run++) {
    /** @type {Figures} */
    const figures = { gzip: transferred().reduce((sum, { gzip }) => sum + gzip, 0) / 1000 };
    for (const part of PARTS) Object.assign(figures, await part(server.origin));
    runs.push(figures);
    console.error(`run ${run + 1} of ${values.runs}`);
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}

const digits = (/** @type {number} */ value, /** @type {string} */ unit) => (unit === "x" ? value.toFixed(2) : unit === "kB" ? value.toFixed(1) : value.toFixed(0));
const lines = FIGURES.map(({ name, title, unit, most }) => {
  const all = runs.map((figures) => figures[name]);
  const middle = median(all);
  const spread = `${digits(Math.min(...all), unit)} to ${digits(Math.max(...all), unit)}`;
  return row([title, `${digits(middle, unit)} ${unit}`, spread, most === undefined ? "" : `${most} ${unit}`, most === undefined ? "" : middle <= most ? "ok" : "missed"]);
});
const version = await withPage({}, async (page) => page.context().browser()?.version() ?? "");
const section = `${HEADING}

Medians of ${runs.length} runs, each with fresh pages, in headless Chromium ${version}; ${cpus().length} cores. The files are picked in the page, ${OPEN_MS / 1000} s after
a tokenizer; JSON.parse runs in the viewer's worker, when that is done, on the same lines as strings. A task is one of the page's main thread; those below 50 ms are told as 0.

${row(["", "median", "least to greatest", "at most", "is"])}
${row(["---", "---", "---", "---", "---"])}
${lines.join("\n")}
`;
writeResults(section);
console.log(section);
