/**
 * Makes docs/viewer*.png: the viewer with its own sample, list and chat, tokens by log-probability, rollouts side by side, in the dark.
 *
 *   node scripts/viewer-pictures.js
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { withPage } from "../tests/js/support/browser.js";
import { startView } from "../tests/viewer/support/serve.js";
import { ROOT, fail } from "./lib.js";

/** @typedef {import("playwright-core").Page} Page */

const MOST_BYTES = 250_000;
const SAMPLE = ["-t", join(ROOT, "pkg/sample/tokenizer.t2t"), join(ROOT, "pkg/sample/rollouts.jsonl")];

/** @param {Page} page @param {number} nth */
async function openRollout(page, nth) {
  await page.locator("t2t-list [data-line]").nth(nth).click();
  await page.locator("t2t-chat .message").first().waitFor();
}

/** @type {{ name: string, dark?: boolean, width?: number, show: (page: Page) => Promise<void> }[]} */
const PICTURES = [
  { name: "viewer", show: (page) => openRollout(page, 1) },
  {
    name: "viewer-tokens",
    show: async (page) => {
      await openRollout(page, 1);
      await page.getByRole("tab", { name: "Tokens" }).click();
      await page.getByRole("combobox", { name: "Colour" }).selectOption("logprobs");
      await page.locator("t2t-tokens .t.scaled").nth(20).hover();
      await page.locator("t2t-token-card").waitFor();
    },
  },
  {
    name: "viewer-siblings",
    width: 1680,
    show: async (page) => {
      await openRollout(page, 0);
      await page.getByRole("button", { name: /^Compare/ }).click();
      await page.locator("t2t-siblings .message").nth(3).waitFor();
      await page.getByText("parts at").first().waitFor();
    },
  },
  { name: "viewer-dark", dark: true, show: (page) => openRollout(page, 1) },
];

const server = await startView(SAMPLE);
try {
  for (const { name, dark, width = 1280, show } of PICTURES) {
    const path = join(ROOT, `docs/${name}.png`);
    await withPage({ viewport: { width, height: 800 }, colorScheme: dark ? "dark" : "light" }, async (page) => {
      await page.goto(server.url);
      await page.locator("t2t-list [data-line]").nth(1).waitFor();
      // Until all are checked, and nothing moves.
      await page.locator("t2t-list .status progress").waitFor({ state: "detached" });
      await show(page);
      await page.screenshot({ path, animations: "disabled" });
    });
    if (statSync(path).size > MOST_BYTES) fail(`${path} has more than ${MOST_BYTES} bytes`);
  }
} finally {
  await server.stop();
}
