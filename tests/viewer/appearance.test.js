/** Light and dark, narrow and wide, and what axe says of each state. */
import { AxeBuilder } from "@axe-core/playwright";
import assert from "node:assert/strict";
import { test } from "node:test";
import { fixture, tokenizerOf } from "./support/fixtures.js";
import { drop, openRollout, openTab, rowsOf, waitForRollouts, withFiles, withViewer } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const PLANTED = ["-t", tokenizerOf("qwen3"), fixture("rollouts/planted.jsonl")];
const TABS = /** @type {const} */ (["Chat", "Text", "Tokens", "Raw"]);

/** In the dark nothing but colours is another. @param {Page} page @param {string} state @param {boolean} onlyColours */
async function assertAccessible(page, state, onlyColours) {
  const axe = new AxeBuilder({ page });
  const { violations } = await (onlyColours ? axe.withRules(["color-contrast"]) : axe).analyze();
  const told = violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.slice(0, 5).map(({ target, failureSummary }) => `  ${target.join(" ")}: ${failureSummary}`).join("\n")}`);
  assert.deepEqual(told, [], state);
}

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`axe finds nothing in any state: ${colorScheme}`, async () => {
    const context = { colorScheme };
    const isDark = colorScheme === "dark";
    await withViewer({ context }, async (page) => {
      await page.getByRole("button", { name: "Try it with a sample" }).waitFor();
      await assertAccessible(page, "the first screen", isDark);
      await page.getByRole("button", { name: "Keys" }).click();
      await page.getByRole("dialog").waitFor();
      await assertAccessible(page, "help", isDark);
    });
    await withFiles(PLANTED, async (page) => {
      await waitForRollouts(page, 4);
      await assertAccessible(page, "the list", isDark);
      await openRollout(page, 1);
      await page.locator("t2t-chat .message").first().waitFor();
      for (const tab of TABS) {
        await openTab(page, tab);
        await page.locator(`t2t-${tab.toLowerCase()} [data-row]`).first().waitFor();
        await assertAccessible(page, tab, isDark);
      }
      await openTab(page, "Tokens");
      await page.getByRole("combobox", { name: "Colour" }).selectOption("logprobs");
      await page.getByRole("button", { name: "Threshold…" }).click();
      await page.getByLabel("Ids", { exact: true }).check();
      await page.locator("t2t-tokens [data-t='30']").hover();
      await page.locator("t2t-token-card").waitFor();
      await assertAccessible(page, "Tokens with colours, ids and a card", isDark);
      await page.getByRole("searchbox", { name: "Search" }).fill("weather");
      await page.getByRole("listbox", { name: "Hits" }).waitFor();
      await assertAccessible(page, "hits", isDark);
      await page.getByRole("button", { name: "Open", exact: true }).click();
      await page.getByRole("button", { name: "Show the rollouts" }).waitFor();
      await assertAccessible(page, "Open", isDark);
    }, { context });
    await withViewer({ context }, async (page) => {
      await page.getByRole("button", { name: "Try it with a sample" }).click();
      await rowsOf(page).nth(3).waitFor();
      await openRollout(page);
      await page.keyboard.press("s");
      await page.locator("t2t-siblings .message").nth(1).waitFor();
      await assertAccessible(page, "side by side", isDark);
    });
    await withFiles(["-t", tokenizerOf("llama2"), fixture("captures/edge-broken-lines/calls.jsonl")], async (page) => {
      await rowsOf(page).first().waitFor();
      await page.getByRole("button", { name: /\d+ problems?/ }).click();
      await page.getByRole("dialog").waitFor();
      await assertAccessible(page, "problems", isDark);
    }, { context });
  });
}

test("the colours are those of the system, until somebody chooses others; that is kept", async () => {
  const background = (/** @type {Page} */ page) => page.locator("token2text-viewer").evaluate((viewer) => getComputedStyle(viewer).backgroundColor);
  const brightness = async (/** @type {Page} */ page) => Number(/\d+/.exec(await background(page))?.[0]);
  await withViewer({ context: { colorScheme: "dark" } }, async (page) => {
    assert.ok((await brightness(page)) < 60, await background(page));
    await page.getByRole("button", { name: /^Colours: auto/ }).click();
    await page.getByRole("button", { name: /^Colours: light/ }).waitFor();
    assert.ok((await brightness(page)) > 200, await background(page));
    await page.reload();
    await page.getByRole("button", { name: /^Colours: light/ }).waitFor();
    assert.ok((await brightness(page)) > 200, await background(page));
  });
});

test("360 pixels are wide enough: one column, a way back, and nothing to the side", async () => {
  const context = { viewport: { width: 360, height: 720 } };
  const overflow = (/** @type {Page} */ page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  /** Elements that stand out of the window to the side and are not in something that scrolls. @param {Page} page */
  const outside = (page) =>
    page.evaluate(() => {
      /** @type {string[]} */
      const found = [];
      const walk = (/** @type {any} */ root) => {
        for (const element of root.querySelectorAll("button, input, select, h1, h2, h3, [role=tab], a")) {
          const box = element.getBoundingClientRect();
          if (box.width === 0 || (box.left >= -1 && box.right <= innerWidth + 1)) continue;
          let holder = element;
          while (holder && !(/(auto|scroll|hidden|clip)/.test(getComputedStyle(holder).overflowX))) holder = holder.parentElement ?? holder.getRootNode().host;
          if (!holder) found.push(`${element.tagName} ${element.textContent?.trim().slice(0, 30)} ${Math.round(box.left)}-${Math.round(box.right)}`);
        }
        for (const element of root.querySelectorAll("*")) if (element.shadowRoot) walk(element.shadowRoot);
      };
      walk(document);
      return found;
    });
  const fits = async (/** @type {Page} */ page, /** @type {string} */ state) => {
    assert.equal(await overflow(page), 0, state);
    assert.deepEqual(await outside(page), [], state);
  };
  await withViewer({ context }, async (page) => {
    await page.getByRole("button", { name: "Try it with a sample" }).waitFor();
    await fits(page, "the first screen");
  });
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await fits(page, "the list");
    await openRollout(page, 1);
    assert.equal(await rowsOf(page).first().isVisible(), false);
    for (const tab of TABS) {
      await openTab(page, tab);
      await page.locator(`t2t-${tab.toLowerCase()} [data-row]`).first().waitFor();
      await fits(page, tab);
    }
    await page.getByRole("button", { name: "Rollouts", exact: true }).click();
    await rowsOf(page).first().waitFor();
    assert.equal(await rowsOf(page).first().isVisible(), true);
  }, { context });
});

test("what is dragged over the page is told where it may go", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await drop(page, [fixture("captures/verl-calls-qwen3/calls.jsonl")]);
    await waitForRollouts(page, 2);
    await page.getByText("Drop to open").waitFor({ state: "detached" });
  });
});
