/** The tab Tokens. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { byteIds, chatMl } from "../js/support/tokenizers.js";
import { callRecord, expectedOf, fixture, jsonLines, temporaryFolder, tokenizerOf } from "./support/fixtures.js";
import { openRollout, openTab, rowsOf, withFiles } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const { write } = temporaryFolder();
const QWEN = tokenizerOf("qwen3");
const PLANTED = fixture("rollouts/planted.jsonl");
/** @type {any[]} */
const planted = readFileSync(PLANTED, "utf8").trim().split("\n").map((line) => JSON.parse(line));

/** @param {Page} page @param {number} token */
const at = (page, token) => page.locator(`t2t-tokens [data-t="${token}"]`);

/**
 * @template T
 * @param {string[]} args
 * @param {number} row
 * @param {(page: Page) => Promise<T>} task
 * @param {object} [options]
 */
function withTokens(args, row, task, options) {
  return withFiles(args, async (page) => {
    await rowsOf(page).nth(row).waitFor();
    await openRollout(page, row);
    await openTab(page, "Tokens");
    await page.locator("t2t-tokens [data-t]").first().waitFor();
    return task(page);
  }, options);
}

test("tokens have boundaries, ids and special tokens as chips", async () => {
  // The third rollout: one call without a parent.
  const { inputs, outputs } = planted[4];
  const ids = [...inputs.prompt_ids, ...outputs.token_ids];
  await withTokens(["-t", QWEN, PLANTED], 2, async (page) => {
    assert.equal(await page.locator("t2t-tokens [data-t]").count(), ids.length);
    assert.ok(await page.locator("t2t-tokens .scroller.boundaries").count());
    await page.getByLabel("Boundaries").uncheck();
    await page.locator("t2t-tokens .scroller.boundaries").waitFor({ state: "detached" });
    const special = await page.locator("t2t-tokens .t.special").allInnerTexts();
    assert.deepEqual(new Set(special), new Set(["<|im_start|>", "<|im_end|>"]));
    await page.getByLabel("Ids", { exact: true }).check();
    await page.locator("t2t-tokens .id").first().waitFor();
    assert.deepEqual((await page.locator("t2t-tokens .id").allInnerTexts()).map(Number), ids);
  });
});

test("white space is marked on demand", async () => {
  await withTokens(["-t", QWEN, PLANTED], 2, async (page) => {
    const marks = page.locator("t2t-tokens .space-mark", { hasText: "·" });
    assert.equal(await marks.count(), 0);
    assert.ok((await page.locator("t2t-tokens .space-mark", { hasText: "⏎" }).count()) > 2);
    await page.getByLabel("Spaces").check();
    await marks.first().waitFor();
  });
});

test("parts of a character have their bytes, and an id without a token its number", async () => {
  const tokenizer = write("bytes/tokenizer.json", chatMl());
  const file = write("bytes.jsonl", jsonLines([callRecord({ prompt: byteIds("a"), response: [...byteIds("🗼é"), 7777] })]));
  await withTokens(["-t", tokenizer, file], 0, async (page) => {
    assert.deepEqual(await page.locator("t2t-tokens .bytes").allInnerTexts(), ["f0", "9f", "97", "bc", "c3", "a9", "#7777"]);
    assert.deepEqual((await page.locator("t2t-tokens .t").allInnerTexts()).join("").replaceAll(/f0|9f|97|bc|c3|a9|#7777/g, ""), "a🗼é");
    await at(page, 2).hover();
    await page.locator("t2t-token-card").getByText("It begins inside a character that began before.").waitFor();
  });
});

test("runs of image pads are one row with their length, which unfolds", async () => {
  const [{ ids = [] }] = expectedOf("edge-image-qwen3");
  const pad = 151655;
  const longest = Math.max(...ids.map((_, at) => ids.slice(at).findIndex((id) => id !== pad)));
  await withTokens(["-t", QWEN, fixture("captures/edge-image-qwen3/calls.jsonl")], 0, async (page) => {
    const fold = page.locator("t2t-tokens .fold.wide", { hasText: "<|image_pad|>" });
    await fold.filter({ hasText: `× ${longest}` }).first().waitFor();
    const before = await page.locator("t2t-tokens [data-t]").count();
    assert.ok(before < 100, `${before} tokens are drawn`);
    await fold.filter({ hasText: `× ${longest}` }).first().click();
    await page.locator("t2t-tokens .t.special", { hasText: "<|image_pad|>" }).first().waitFor();
  });
});

test("coloured by log-probability, with a legend, and a threshold that counts and walks", async () => {
  const { inputs, outputs } = planted[4];
  const first = inputs.prompt_ids.length;
  /** @type {number[]} */
  const logprobs = outputs.log_probs;
  await withTokens(["-t", QWEN, PLANTED], 2, async (page) => {
    await page.getByRole("combobox", { name: "Colour" }).selectOption("logprobs");
    await page.locator("t2t-token-bar .legend").waitFor();
    assert.equal(await page.locator("t2t-tokens .t.scaled").count(), logprobs.length);
    assert.equal(await page.locator("t2t-tokens .t.none").count(), first);
    // The lower, the louder.
    const step = async (/** @type {number} */ token) => Number(/\b[sd](\d+)\b/.exec((await at(page, token).getAttribute("class")) ?? "")?.[1]);
    const [lowest, highest] = [logprobs.indexOf(Math.min(...logprobs)), logprobs.indexOf(Math.max(...logprobs))];
    assert.ok((await step(first + lowest)) > (await step(first + highest)));
    await page.getByRole("button", { name: "Threshold…" }).click();
    await page.getByLabel("Threshold as a number").fill("-0.1");
    await page.getByLabel("Threshold as a number").press("Enter");
    const beyond = logprobs.flatMap((value, at) => (Math.fround(value) < -0.1 ? [first + at] : []));
    await page.locator("t2t-token-bar .threshold", { hasText: `${beyond.length} token` }).waitFor();
    assert.deepEqual(await page.locator("t2t-tokens .t.beyond").evaluateAll((all) => all.map((one) => Number(/** @type {HTMLElement} */ (one).dataset.t))), beyond);
    await page.getByRole("button", { name: "Next token below the threshold" }).click();
    await at(page, beyond[0]).and(page.locator(".cursor")).waitFor();
    await page.getByLabel("Side of the threshold").selectOption("above");
    await page.locator("t2t-token-bar .threshold", { hasText: `${logprobs.filter((value) => value > -0.1).length} token` }).waitFor();
  });
});

test("coloured by other numbers beside the tokens, those of both signs about zero", async () => {
  const response = byteIds("abcdefgh");
  const file = write("numbers.jsonl", jsonLines([callRecord({ prompt: byteIds("x"), response, logprobs: response.map(() => -0.5), outputs: { entropys: response.map((_, at) => at / 4), advantages: response.map((_, at) => at - 3.5) } })]));
  await withTokens(["-t", write("numbers/tokenizer.json", chatMl()), file], 0, async (page) => {
    assert.deepEqual(await page.getByRole("combobox", { name: "Colour" }).locator("option").allInnerTexts(), ["segment", "logprob", "entropy", "advantage"]);
    await page.getByRole("combobox", { name: "Colour" }).selectOption("advantages");
    assert.match((await page.locator("t2t-token-bar .legend").getAttribute("aria-label")) ?? "", /from −3\.500 to 3\.500/);
    assert.match((await at(page, 1).getAttribute("class")) ?? "", /\bd0\b/);
    assert.match((await at(page, 8).getAttribute("class")) ?? "", /\bd14\b/);
  });
});

test("a card says what is known of a token, and stays if it is pinned", async () => {
  const { inputs, outputs } = planted[4];
  const token = inputs.prompt_ids.length + 2;
  await withTokens(["-t", QWEN, PLANTED], 2, async (page) => {
    await at(page, token).hover();
    const card = page.locator("t2t-token-card:not([pinned])");
    await card.waitFor();
    const text = (await card.locator(".head, .text, dl").allInnerTexts()).join("\n");
    assert.ok(text.includes(`Token ${token}`) && text.includes(`id ${outputs.token_ids[2]}`), text);
    assert.match(text, /bytes\s+[0-9a-f]{2}/);
    assert.match(text, /segment\s+model/);
    assert.match(text, /message\s+assistant/);
    assert.match(text, /logprob\s+0\.250/);
    await at(page, token).click();
    await page.locator("t2t-tokens .scroller").focus();
    await page.keyboard.press("i");
    await page.locator("t2t-token-card[pinned]").waitFor();
  });
});

test("the keyboard walks from token to token, and selects", async () => {
  await withTokens(["-t", QWEN, PLANTED], 2, async (page) => {
    const cursor = async (/** @type {number} */ token) => page.locator(`t2t-tokens [data-t="${token}"].cursor`).waitFor();
    await page.locator("t2t-tokens .scroller").focus();
    await page.keyboard.press("ArrowRight");
    await cursor(0);
    await page.keyboard.press("ArrowRight");
    await cursor(1);
    await page.keyboard.press("Control+End");
    const last = (await page.locator("t2t-tokens [data-t]").count()) - 1;
    await cursor(last);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Home");
    await page.keyboard.press("Control+Home");
    await cursor(0);
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    assert.equal(await page.locator("t2t-tokens .t.selected").count(), 3);
    assert.match(page.url(), /tokens=0-3/);
    await page.locator("t2t-tokens .unseen", { hasText: "token 2, id 198" }).waitFor({ state: "attached" });
    await page.getByLabel(/^Go to token/).fill("12");
    await page.getByLabel(/^Go to token/).press("Enter");
    await cursor(12);
    await page.locator("t2t-tokens .scroller").focus();
    await page.keyboard.press("Escape");
    await page.locator("t2t-tokens .t.cursor").waitFor({ state: "detached" });
  });
});

test("text, ids and JSON are copied", async () => {
  const { inputs, outputs } = planted[4];
  const ids = [...inputs.prompt_ids, ...outputs.token_ids];
  await withTokens(["-t", QWEN, PLANTED], 2, async (page) => {
    const copied = async (/** @type {string} */ name) => {
      await page.evaluate(() => navigator.clipboard.writeText(""));
      const copy = page.locator("t2t-tokens .copy");
      // It is told for a moment only.
      await Promise.all([copy.filter({ hasText: "Copied" }).waitFor(), copy.getByRole("button", { name, exact: true }).click()]);
      const text = await page.waitForFunction(() => navigator.clipboard.readText());
      return text.jsonValue();
    };
    assert.deepEqual(JSON.parse(await copied("ids")), ids);
    assert.match(await copied("text"), /^<\|im_start\|>user\nCount to three\.<\|im_end\|>\n<\|im_start\|>assistant\nOne, two, three\.<\|im_end\|>$/);
    const tokens = JSON.parse(await copied("JSON"));
    assert.deepEqual(tokens.map((/** @type {any} */ token) => token.id), ids);
    assert.equal(tokens.map((/** @type {any} */ token) => token.text).join(""), await copied("text"));
    assert.deepEqual(Object.keys(tokens.at(-1)), ["position", "id", "text", "segment", "logprobs"]);
    await at(page, 1).click();
    await at(page, 3).click({ modifiers: ["Shift"] });
    assert.deepEqual(JSON.parse(await copied("ids")), ids.slice(1, 4));
  }, { context: { permissions: ["clipboard-read", "clipboard-write"] } });
});
