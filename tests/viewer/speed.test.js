/** What keeps the page quick, without a clock: how much is drawn, where the work is done, how much is fetched. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { MOST_TRANSFERRED } from "../../scripts/build-viewer.js";
import { byteIds, chatMl } from "../js/support/tokenizers.js";
import { callRecord, jsonLines, temporaryFolder } from "./support/fixtures.js";
import { manyRollouts, longCall } from "./support/large.js";
import { MOST_ELEMENTS, openRollout, openTab, rowsOf, waitForRollouts, withFiles, withViewer } from "./support/viewer.js";
import { countElements } from "./support/watch.js";

/** @typedef {import("playwright-core").Page} Page */

const { write } = temporaryFolder();
const TOKENIZER = write("tokenizer.json", chatMl());

/** @param {Page} page @param {string} state */
async function assertFew(page, state) {
  const count = await countElements(page);
  assert.ok(count < MOST_ELEMENTS, `${count} elements: ${state}`);
}

/** Scrolls to a share of the whole, and waits until it is drawn. @param {Page} page @param {string} tag @param {string} selector @param {number} share */
async function scrollTo(page, tag, selector, share) {
  await page.locator(`${tag} ${selector}`).evaluate(async (scroller, share) => {
    scroller.scrollTop = share * (scroller.scrollHeight - scroller.clientHeight);
    for (let frame = 0; frame < 4; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
  }, share);
}

test("a list of 100,000 rollouts is scrolled, sorted and filtered with few elements", async () => {
  await withFiles(["-t", TOKENIZER, write("many.jsonl", manyRollouts(100_000))], async (page) => {
    await rowsOf(page).first().waitFor();
    await waitForRollouts(page, 100_000);
    await assertFew(page, "the beginning");
    for (const share of [0.5, 1, 0.25]) {
      await scrollTo(page, "t2t-list", ".grid", share);
      await assertFew(page, `at ${share}`);
    }
    await page.locator("t2t-list").getByRole("button", { name: /^Reward/ }).click();
    await page.locator("t2t-list [aria-sort=descending]").waitFor();
    await page.keyboard.press("End");
    await page.getByLabel("Filter rollouts").fill("sample 99999");
    await page.locator("t2t-list .status", { hasText: "1 of 100,000 rollouts" }).waitFor();
    await openRollout(page);
    await page.locator("t2t-rollout-header", { hasText: "sample 99999" }).waitFor();
  });
});

test("a call of 1,000,000 tokens is opened and scrolled with few elements", async () => {
  await withFiles(["-t", TOKENIZER, write("long.jsonl", longCall(1_000_000))], async (page) => {
    await rowsOf(page).first().waitFor();
    await openRollout(page);
    await assertFew(page, "Chat");
    for (const tab of /** @type {const} */ (["Tokens", "Text"])) {
      await openTab(page, tab);
      await page.locator(`t2t-${tab.toLowerCase()} [data-row]`).first().waitFor();
      for (const share of [0.3, 0.99, 1]) {
        await scrollTo(page, `t2t-${tab.toLowerCase()}`, ".scroller", share);
        await assertFew(page, `${tab} at ${share}`);
      }
    }
    await openTab(page, "Tokens");
    await page.getByLabel("Ids", { exact: true }).check();
    await page.getByLabel(/^Go to token/).fill("999990");
    await page.getByLabel(/^Go to token/).press("Enter");
    await page.locator("t2t-tokens [data-t='999990'].cursor").waitFor();
    await assertFew(page, "Tokens with ids");
    await openTab(page, "Raw");
    await page.locator("t2t-raw [data-row]").first().waitFor();
    await assertFew(page, "Raw");
  });
});

test("1,000 turns, and a high window", async () => {
  let prompt = byteIds("Begin. ");
  const calls = Array.from({ length: 1000 }, (_, at) => {
    const response = byteIds(`Turn ${at}. `);
    const record = callRecord({ prompt, response });
    prompt = [...prompt, ...response];
    return record;
  });
  await withFiles(["-t", TOKENIZER, write("turns.jsonl", jsonLines(calls))], async (page) => {
    await rowsOf(page).first().waitFor();
    await openRollout(page);
    await page.locator("t2t-chat [data-row]").first().waitFor();
    await assertFew(page, "Chat");
    await scrollTo(page, "t2t-turn-tree", ".scroller", 0.5);
    await openTab(page, "Tokens");
    await page.locator("t2t-tokens [data-row]").first().waitFor();
    await assertFew(page, "Tokens");
  }, { context: { viewport: { width: 2560, height: 1440 } } });
});

test("the work is done in the worker, and WebAssembly is nowhere else", async () => {
  await withFiles(["-t", TOKENIZER, write("few.jsonl", manyRollouts(3))], async (page) => {
    await waitForRollouts(page, 3);
    assert.equal(page.workers().length, 1);
    assert.match(page.workers()[0].url(), /viewer-engine\.js$/);
    // `withViewer` fails if the page has touched WebAssembly, or read a long text itself.
    const loaded = await page.workers()[0].evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    assert.ok(loaded.some((name) => name.endsWith("slim_bg.wasm")), loaded.join());
  });
});

test("until files can be dropped, less than the limit is fetched", async () => {
  // Files can be dropped before the page has nothing else to do; what it fetches then does not count.
  await withViewer({ prepare: (page) => page.addInitScript(() => (window.requestIdleCallback = () => 0)) }, async (page) => {
    await page.getByText("Drop traces and a tokenizer.json here").waitFor();
    /** @type {Map<string, number>} */
    const sizes = new Map();
    const names = new Set([...(await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name))), page.url()]);
    const worker = await page.evaluate(() => new URL("viewer-engine.js", document.baseURI).href);
    names.add(worker);
    for (const name of names) {
      if (!name.startsWith("http") || /\.wasm$|\/sample\//.test(name)) continue;
      const body = Buffer.from(await (await fetch(name)).arrayBuffer());
      sizes.set(name, gzipSync(body, { level: 9 }).length);
    }
    const sum = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    assert.ok(sum < MOST_TRANSFERRED, `${sum} bytes: ${JSON.stringify([...sizes])}`);
    assert.ok(sizes.size >= 4);
  });
});
