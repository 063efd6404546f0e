/** Search, links and keys. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fixture, tokenizerOf } from "./support/fixtures.js";
import { openRollout, openTab, waitForRollouts, withFiles } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const QWEN = tokenizerOf("qwen3");
const PLANTED = ["-t", QWEN, fixture("rollouts/planted.jsonl")];
/** @type {any[]} */
const planted = readFileSync(PLANTED[2], "utf8").trim().split("\n").map((line) => JSON.parse(line));

const count = (/** @type {Page} */ page) => page.locator("t2t-search .count");
/** @param {Page} page @param {string | RegExp} text */
const counted = (page, text) => count(page).filter({ hasText: text }).waitFor();
/** @param {Page} page */
const field = (page) => page.getByRole("searchbox", { name: "Search" });

test("text is found in all rollouts, and one goes from hit to hit", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await page.keyboard.press("/");
    await page.keyboard.type("seventeen");
    await counted(page, "2 hits");
    const hits = page.getByRole("listbox", { name: "Hits" }).getByRole("option");
    assert.equal(await hits.count(), 2);
    assert.deepEqual(new Set(await hits.locator("mark").allInnerTexts()), new Set([" seventeen"]));
    await field(page).press("Enter");
    await counted(page, "1 of 2");
    await page.locator("t2t-rollout-header", { hasText: "sample 0" }).waitFor();
    await openTab(page, "Tokens");
    await page.locator("t2t-tokens .t.hit-now", { hasText: "seventeen" }).waitFor();
    await page.getByRole("button", { name: "Next hit" }).click();
    await counted(page, "2 of 2");
    await page.locator("t2t-rollout-header", { hasText: "sample 1" }).waitFor();
    await page.getByRole("button", { name: "Next hit" }).click();
    await counted(page, "1 of 2");
    await field(page).press("Shift+Enter");
    await counted(page, "2 of 2");
    await page.locator("t2t-tokens .t.hit-now", { hasText: "seventeen" }).waitFor();
    await openTab(page, "Text");
    await page.locator("t2t-text .hit-now", { hasText: "seventeen" }).waitFor();
    await openTab(page, "Chat");
    await page.locator("t2t-chat mark", { hasText: "seventeen" }).waitFor();
  });
});

test("a case, a regular expression, and one that is broken", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await field(page).fill("kyoto");
    await counted(page, /^[1-9]\d* hits/);
    const all = await count(page).innerText();
    await page.getByRole("button", { name: "Match case" }).click();
    await counted(page, "No hits");
    await page.getByLabel("What is searched for").selectOption("regex");
    await field(page).fill("Kyo+to");
    await counted(page, all);
    await field(page).fill("Kyo(to");
    await page.locator("t2t-search").getByRole("alert").waitFor();
    await field(page).fill("Count to (two|three)");
    await counted(page, "1 hit");
    assert.equal(await page.locator("t2t-search").getByRole("alert").count(), 0);
  });
});

test("ids and sequences of ids are found where they stand", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    const { inputs, outputs } = planted[4];
    const sequence = outputs.token_ids.slice(1, 4);
    await page.getByLabel("What is searched for").selectOption("ids");
    await field(page).fill(sequence.join(" "));
    await counted(page, "1 hit");
    await field(page).press("Enter");
    await openTab(page, "Tokens");
    const first = inputs.prompt_ids.length + 1;
    await page.locator(`t2t-tokens [data-t="${first}"].hit-now`).waitFor();
    assert.deepEqual(await page.locator("t2t-tokens .hit-now").evaluateAll((all) => all.map((one) => Number(/** @type {HTMLElement} */ (one).dataset.t))), [first, first + 1, first + 2]);
    await field(page).fill(`[${sequence[0]},${sequence[1]}]`);
    await counted(page, /\d+ hits?/);
    await field(page).fill("not an id");
    await page.locator("t2t-search").getByRole("alert").waitFor();
  });
});

test("in one rollout alone", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await openRollout(page, 1);
    await field(page).fill("seventeen");
    await counted(page, "2 hits");
    await page.locator("t2t-search").getByLabel("Where").selectOption("one");
    await counted(page, "1 hit");
    await field(page).press("Escape");
    await count(page).waitFor({ state: "detached" });
  });
});

test("a link opens what it was made of: rollout, call, tokens, tab", async () => {
  await withFiles(PLANTED, async (page, { url }) => {
    await waitForRollouts(page, 4);
    await openRollout(page, 1);
    await openTab(page, "Tokens");
    await page.locator('t2t-tokens [data-t="23"]').click();
    await page.locator('t2t-tokens [data-t="25"]').click({ modifiers: ["Shift"] });
    const link = page.url();
    assert.match(link, /#rollout=.*tokens=23-26.*tab=tokens|#rollout=.*tab=tokens.*tokens=23-26/);
    const other = await page.context().newPage();
    await other.goto(link);
    await other.locator("t2t-tokens .t.selected").nth(2).waitFor();
    assert.deepEqual(await other.locator("t2t-tokens .t.selected").evaluateAll((all) => all.map((one) => Number(/** @type {HTMLElement} */ (one).dataset.t))), [23, 24, 25]);
    await other.locator("t2t-rollout-header", { hasText: "sample 1" }).waitFor();
    // The way back goes over what was looked at.
    await openRollout(other, 2);
    await other.goBack();
    await other.locator("t2t-rollout-header", { hasText: "sample 1" }).waitFor();
    await other.goto(`${url}#rollout=gone`);
    await other.getByText("The rollout of the link is not here").waitFor();
    await other.close();
  });
});

test("keys: tabs, turns, ends, help, and nothing while one types", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await page.keyboard.press("n");
    await page.locator("t2t-rollout-header", { hasText: "sample 0" }).waitFor();
    for (const [key, tab] of [["2", "text"], ["3", "tokens"], ["4", "raw"], ["1", "chat"]]) {
      await page.keyboard.press(key);
      await page.locator(`t2t-${tab}`).waitFor();
    }
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.getByText("Next rollout").waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await page.keyboard.press("/");
    await page.keyboard.type("nnp?");
    await page.locator("t2t-rollout-header", { hasText: "sample 0" }).waitFor();
    assert.equal(await field(page).inputValue(), "nnp?");
    assert.equal(await help.isVisible(), false);
  });
});

test("g, G, j and k move through a long call", async () => {
  await withFiles(["-t", QWEN, fixture("captures/edge-huge-qwen3/calls.jsonl")], async (page) => {
    await waitForRollouts(page, 1);
    await openRollout(page);
    await openTab(page, "Text");
    const top = () => page.locator("t2t-text .scroller").evaluate((scroller) => Math.round(scroller.scrollTop));
    await page.locator("t2t-text [data-row='0']").waitFor();
    await page.keyboard.press("G");
    await page.waitForFunction(() => (/** @type {any} */ (document.querySelector("token2text-viewer")).shadowRoot.querySelector("t2t-rollout-view").shadowRoot.querySelector("t2t-text").shadowRoot.querySelector(".scroller").scrollTop > 10_000));
    await page.keyboard.press("g");
    await page.locator("t2t-text [data-row='0']").waitFor();
    assert.equal(await top(), 0);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.waitForFunction(() => (/** @type {any} */ (document.querySelector("token2text-viewer")).shadowRoot.querySelector("t2t-rollout-view").shadowRoot.querySelector("t2t-text").shadowRoot.querySelector(".scroller").scrollTop > 0));
    await page.keyboard.press("k");
    await page.keyboard.press("k");
    await page.waitForFunction(() => (/** @type {any} */ (document.querySelector("token2text-viewer")).shadowRoot.querySelector("t2t-rollout-view").shadowRoot.querySelector("t2t-text").shadowRoot.querySelector(".scroller").scrollTop === 0));
  });
});
