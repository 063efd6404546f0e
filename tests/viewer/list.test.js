/** The list of rollouts, and rollouts of one sample side by side. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { byteIds, chatMl } from "../js/support/tokenizers.js";
import { callRecord, jsonLines, temporaryFolder } from "./support/fixtures.js";
import { rowsOf, waitForRollouts, withFiles } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const { write } = temporaryFolder();
const TOKENIZER = write("tokenizer.json", chatMl());
const OPEN = 258;
const CLOSE = 259;
/** @param {string} role @param {string} text */
const message = (role, text) => [OPEN, ...byteIds(`${role}\n${text}`), CLOSE, ...byteIds("\n")];
/** Two steps of three samples with four rollouts each. */
const GROUPS = write(
  "groups.jsonl",
  jsonLines(
    [1, 2].flatMap((step) =>
      [0, 1, 2].flatMap((sample) =>
        [0, 1, 2, 3].map((n) =>
          callRecord({
            prompt: [...message("user", `Question ${sample}`), OPEN, ...byteIds("assistant\n")],
            response: [...byteIds(`The answer ${"is ".repeat(n + 1)}${(n * 7) % 4}`), CLOSE],
            requestId: `${step}-${sample}-${n}`,
            outputs: { reward: ((n * 7) % 4) / 4 - sample },
            attributes: { step, sample_index: sample, rollout_n: n, validate: step === 2, experiment_name: "grpo" },
          }),
        ),
      ),
    ),
  ),
);
const ARGS = ["-t", TOKENIZER, GROUPS];

/** @param {Page} page @param {string} label The texts of a column in sight. */
async function column(page, label) {
  const headings = await page.locator("t2t-list [role=columnheader]").allInnerTexts();
  const at = headings.findIndex((heading) => heading.startsWith(label));
  assert.ok(at >= 0, `${label} of ${headings}`);
  return rowsOf(page).evaluateAll((rows, at) => rows.map((row) => row.children[at].textContent?.trim() ?? ""), at);
}
const numbers = (/** @type {string[]} */ texts) => texts.map((text) => Number(text.replace("−", "-").replaceAll(",", "")));
/** @param {Page} page @param {string} label @param {string} direction */
async function sortBy(page, label, direction) {
  await page.locator("t2t-list").getByRole("button", { name: new RegExp(`^${label}`) }).first().click();
  await page.locator(`t2t-list [role=columnheader][aria-sort=${direction}]`).waitFor();
}

test("what is known of each rollout stands in its row", async () => {
  await withFiles(ARGS, async (page) => {
    await waitForRollouts(page, 24);
    assert.deepEqual(new Set(await column(page, "Step")), new Set(["1", "2"]));
    assert.deepEqual((await column(page, "Sample")).slice(0, 5), ["0", "0", "0", "0", "1"]);
    assert.deepEqual((await column(page, "n")).slice(0, 5), ["0", "1", "2", "3", "0"]);
    assert.deepEqual(numbers(await column(page, "Reward")).slice(0, 5), [0, 0.75, 0.5, 0.25, -1]);
    assert.deepEqual(new Set(await column(page, "Turns")), new Set(["1"]));
    assert.deepEqual(new Set(await column(page, "Val.")), new Set(["", "yes"]));
    assert.ok(numbers(await column(page, "Tokens")).every((count) => count > 30));
    await page.waitForFunction((rows) => [...document.querySelector("token2text-viewer")?.shadowRoot?.querySelector("t2t-list")?.shadowRoot?.querySelectorAll("[role=gridcell]") ?? []].filter((cell) => cell.textContent?.trim() === "–").length >= rows, 20);
  });
});

test("sorted one way, the other way, and as the traces have it; rows that are equal keep their order", async () => {
  await withFiles(ARGS, async (page) => {
    await waitForRollouts(page, 24);
    const before = await column(page, "Reward");
    await sortBy(page, "Reward", "descending");
    await page.waitForFunction(() => document.querySelector("token2text-viewer")?.shadowRoot?.querySelector("t2t-list")?.shadowRoot?.querySelector("[data-line='0'] [role=gridcell]:nth-child(4)")?.textContent?.trim().startsWith("0.75"));
    const down = numbers(await column(page, "Reward"));
    assert.deepEqual(down, down.toSorted((a, b) => b - a));
    assert.deepEqual((await column(page, "Step")).slice(0, 2), ["1", "2"]);
    await sortBy(page, "Reward", "ascending");
    await page.waitForFunction(() => document.querySelector("token2text-viewer")?.shadowRoot?.querySelector("t2t-list")?.shadowRoot?.querySelector("[data-line='0'] [role=gridcell]:nth-child(4)")?.textContent?.trim().startsWith("-2") || document.querySelector("token2text-viewer")?.shadowRoot?.querySelector("t2t-list")?.shadowRoot?.querySelector("[data-line='0'] [role=gridcell]:nth-child(4)")?.textContent?.trim().startsWith("−2"));
    const up = numbers(await column(page, "Reward"));
    assert.deepEqual(up, up.toSorted((a, b) => a - b));
    await page.locator("t2t-list").getByRole("button", { name: /^Reward/ }).click();
    await page.locator("t2t-list [aria-sort=ascending]").waitFor({ state: "detached" });
    await page.waitForFunction(() => document.querySelector("token2text-viewer")?.shadowRoot?.querySelector("t2t-list")?.shadowRoot?.querySelector("[data-line='1'] [role=gridcell]:nth-child(4)")?.textContent?.trim().startsWith("0.75"));
    assert.deepEqual(await column(page, "Reward"), before);
  });
});

test("filtered by words, step, reward, validation and findings, and shown whole again", async () => {
  await withFiles(ARGS, async (page) => {
    await waitForRollouts(page, 24);
    const status = (/** @type {string} */ text) => page.locator("t2t-list .status", { hasText: new RegExp(`(^|\\s)${text}`) }).waitFor();
    await page.getByLabel("Filter rollouts").fill("sample 2");
    await status("8 of 24 rollouts");
    await page.getByLabel("Filter rollouts").fill("sample 2 validate");
    await status("4 of 24 rollouts");
    await page.getByLabel("Filter rollouts").fill("");
    await page.getByRole("button", { name: /^Filters/ }).click();
    const filters = page.getByRole("group", { name: "Filters" });
    await filters.getByLabel("Step").fill("2");
    await status("12 of 24 rollouts");
    await filters.getByLabel("Step").fill("");
    await filters.getByLabel("Reward from").fill("0.5");
    await status("4 of 24 rollouts");
    await filters.getByLabel("Reward to").fill("0.5");
    await status("2 of 24 rollouts");
    await filters.getByRole("button", { name: "Clear" }).click();
    await filters.getByLabel("Validation").selectOption("yes");
    await status("12 of 24 rollouts");
    await filters.getByRole("button", { name: "Clear" }).click();
    await filters.getByLabel("Findings").selectOption("errors");
    await status("0 of 24 rollouts");
    await page.getByText("No rollout of 24 fits the filter.").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await waitForRollouts(page, 24);
  });
});

test("grouped by sample, and the rollouts of one side by side", async () => {
  await withFiles(ARGS, async (page) => {
    await waitForRollouts(page, 24);
    await page.getByRole("button", { name: "Group" }).click();
    const groups = page.locator("t2t-list .group");
    await groups.first().waitFor();
    assert.match(await groups.first().innerText(), /step 1, sample 0\s+4 rollouts, reward 0\.375 ± /);
    await groups.first().getByRole("button", { name: "Compare" }).click();
    const columns = page.locator("t2t-siblings section");
    await columns.nth(3).locator(".message").first().waitFor();
    assert.equal(await columns.count(), 4);
    await columns.nth(2).getByText("parts at").waitFor();
    assert.match(page.url(), /siblings=1/);
    // What each says is its own.
    for (const n of [0, 1, 2, 3]) await columns.nth(n).getByText(`The answer ${"is ".repeat(n + 1)}${(n * 7) % 4}`).first().waitFor();
    await columns.nth(2).getByRole("button", { name: "Open" }).click();
    await page.locator("t2t-rollout-header", { hasText: "rollout 2" }).waitFor();
    await page.keyboard.press("s");
    await columns.first().waitFor();
    await page.keyboard.press("Escape");
    await columns.first().waitFor({ state: "detached" });
  }, { context: { viewport: { width: 2200, height: 900 } } });
});

test("keys walk through the list: arrows, ends, n and p, N and P", async () => {
  await withFiles(ARGS, async (page) => {
    await waitForRollouts(page, 24);
    const title = (/** @type {string} */ text) => page.locator("t2t-rollout-header h2", { hasText: text }).waitFor();
    await page.getByRole("grid", { name: "Rollouts" }).focus();
    await page.keyboard.press("ArrowDown");
    await title("Step 1 · sample 0 · rollout 0");
    await page.keyboard.press("ArrowDown");
    await title("Step 1 · sample 0 · rollout 1");
    await page.keyboard.press("End");
    await title("Step 2 · sample 2 · rollout 3");
    await page.keyboard.press("Home");
    await title("Step 1 · sample 0 · rollout 0");
    await page.keyboard.press("n");
    await title("Step 1 · sample 0 · rollout 1");
    await page.keyboard.press("p");
    await title("Step 1 · sample 0 · rollout 0");
    await page.keyboard.press("N");
    await title("Step 2 · sample 0 · rollout 0");
    await page.keyboard.press("P");
    await title("Step 1 ·");
    const active = await page.getByRole("grid", { name: "Rollouts" }).getAttribute("aria-activedescendant");
    assert.equal(await page.locator(`t2t-list #${active}`).getAttribute("aria-selected"), "true");
  });
});
