/**
 * Makes docs/viewer*.png: the viewer with its own sample, list and chat, tokens by log-probability, rollouts side by side, in the dark;
 * and the page of a collector while rollouts come.
 *
 *   node scripts/viewer-pictures.js              all of them
 *   node scripts/viewer-pictures.js viewer-live  those of these names
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OtlpExporter } from "../pkg/exporters/otlp-node.js";
import { Command } from "../tests/collector/support/command.js";
import { withPage } from "../tests/js/support/browser.js";
import { startView } from "../tests/viewer/support/serve.js";
import { fetchTokenizer } from "./fetch-tokenizer.js";
import { ROOT, fail } from "./lib.js";
import { recordedRollouts } from "./recorded-rollouts.js";

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

/** The collector's page with so many rollouts, when more come and the one that is looked at grows. @param {string} path */
async function pictureLive(path) {
  const folder = mkdtempSync(join(tmpdir(), "token2text-"));
  const tokenizer = join(fetchTokenizer("qwen3"), "tokenizer.json");
  const collector = new Command(["--tokenizer", tokenizer, "--cache", "none", "--receive", "0", "--store", join(folder, "rollouts.db")]);
  try {
    const url = await collector.url("receive");
    const exporter = new OtlpExporter({ url: `${url}/v1/traces` });
    /** @param {number} step @param {number} [calls] */
    const send = async (step, calls) => {
      const facts = (/** @type {number} */ nth) => ({ step, sample_index: 2 * step + nth, validate: false });
      for (const rollout of await recordedRollouts("verl-calls-qwen3", facts)) await exporter.export(rollout.slice(0, calls));
    };
    for (let step = 1; step <= 20; step++) await send(step);
    await send(21, 3);
    await withPage({ viewport: { width: 1280, height: 800 } }, async (page) => {
      await page.goto(`${url}/`);
      await openRollout(page, 8);
      await page.locator("t2t-list .status", { hasText: "42 rollouts" }).waitFor();
      await page.locator("t2t-list .status progress").waitFor({ state: "detached" });
      await send(22, 5);
      await page.getByRole("button", { name: "↓ 2 new" }).waitFor();
      await page.screenshot({ path, animations: "disabled" });
    });
  } finally {
    collector.signal("SIGTERM");
    await collector.ended;
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} name */
const pathOf = (name) => join(ROOT, `docs/${name}.png`);

const asked = process.argv.slice(2);
const isAsked = (/** @type {string} */ name) => asked.length === 0 || asked.includes(name);
const server = await startView(SAMPLE);
try {
  for (const { name, dark, width = 1280, show } of PICTURES.filter(({ name }) => isAsked(name))) {
    const path = pathOf(name);
    await withPage({ viewport: { width, height: 800 }, colorScheme: dark ? "dark" : "light" }, async (page) => {
      await page.goto(server.url);
      await page.locator("t2t-list [data-line]").nth(1).waitFor();
      // Until all are checked, and nothing moves.
      await page.locator("t2t-list .status progress").waitFor({ state: "detached" });
      await show(page);
      await page.screenshot({ path, animations: "disabled" });
    });
  }
} finally {
  await server.stop();
}
if (isAsked("viewer-live")) await pictureLive(pathOf("viewer-live"));
for (const name of [...PICTURES.map(({ name }) => name), "viewer-live"]) {
  if (statSync(pathOf(name)).size > MOST_BYTES) fail(`${pathOf(name)} has more than ${MOST_BYTES} bytes`);
}
