/** The view of a rollout: the tree of its calls, the tabs in step, where calls part, and re-tokenization. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Tokenizer } from "../../pkg/node.js";
import { callRecord, fixture, jsonLines, temporaryFolder, tokenizerOf } from "./support/fixtures.js";
import { callRows } from "./support/shown.js";
import { openRollout, openTab, rowsOf, waitForRollouts, withFiles } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const { write } = temporaryFolder();
const QWEN = tokenizerOf("qwen3");
const LLAMA = tokenizerOf("llama3_1");
const PLANTED = ["-t", QWEN, fixture("rollouts/planted.jsonl")];
const CALLS = ["-t", QWEN, fixture("captures/verl-calls-qwen3/calls.jsonl")];
const tree = (/** @type {Page} */ page) => page.getByRole("tree", { name: "Calls of the rollout" });

test("the calls are a tree: parts below the trajectory, with bars and the tokens that are new", async () => {
  await withFiles(CALLS, async (page) => {
    await waitForRollouts(page, 2);
    await openRollout(page);
    const names = await callRows(page).locator(".label").allInnerTexts();
    assert.deepEqual(names.toSorted(), ["copy 1", "copy 2", "copy 3", "trajectory", "turn 1", "turn 2", "turn 3"]);
    // In the recording the operations of the parser have copies of the ids.
    const levels = await callRows(page).evaluateAll((rows) => rows.map((row) => [row.querySelector(".label")?.textContent, row.getAttribute("aria-level")]));
    for (const [name, level] of levels) assert.ok(name === "trajectory" ? level === "1" : Number(level) > 1, `${name}: ${level}`);
    assert.ok((await callRows(page).locator(".track i").count()) >= 4);
    await tree(page).focus();
    await page.keyboard.press("Home");
    await page.locator("t2t-turn-tree [aria-selected=true]", { hasText: "trajectory" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await callRows(page).nth(1).waitFor({ state: "detached" });
    await page.keyboard.press("ArrowRight");
    await callRows(page).nth(6).waitFor();
    await page.keyboard.press("End");
    await page.locator("t2t-turn-tree [aria-selected=true]").and(callRows(page).last()).waitFor();
  });
});

test("the calls have their times where the trace has them", async () => {
  const records = [0, 1].map((call) => ({
    ...callRecord({ prompt: [1, 2, 3], response: [4 + call, 5], requestId: "timed", traceId: "0af7651916cd43dd8448eb211c80319c" }),
    id: `000000000000000${call + 1}`,
    start_time_unix_nano: String(1796025600000000000n + BigInt(call) * 2_000_000_000n),
    end_time_unix_nano: String(1796025601500000000n + BigInt(call) * 2_000_000_000n),
  }));
  await withFiles(["-t", QWEN, write("timed.jsonl", jsonLines(records))], async (page) => {
    await rowsOf(page).first().waitFor();
    await openRollout(page);
    await page.locator("t2t-turn-tree .axis", { hasText: "0 – 3.5 s" }).waitFor();
    const bars = await callRows(page).locator(".track i").evaluateAll((all) => all.map((bar) => [parseFloat(/** @type {HTMLElement} */ (bar).style.left), parseFloat(/** @type {HTMLElement} */ (bar).style.width)]));
    assert.deepEqual(bars.map(([left]) => Math.round(left)), [0, 57]);
    assert.deepEqual(bars.map(([, width]) => Math.round(width)), [43, 43]);
  });
});

test("the tabs are in step: what is selected in one is selected in the others", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await openRollout(page);
    await page.locator("t2t-chat .message-head .range").last().click();
    await page.locator("t2t-tokens .t.selected").first().waitFor();
    const selected = page.locator("t2t-tokens .t.selected");
    const text = (await selected.allInnerTexts()).join("");
    assert.match(text, /It will be rainy in Kyoto/);
    await openTab(page, "Text");
    await page.locator("t2t-text .piece.selected").first().waitFor();
    assert.match((await page.locator("t2t-text .piece.selected").allInnerTexts()).join(""), /It will be rainy in Kyoto/);
    await openTab(page, "Chat");
    await page.locator("t2t-chat .message.selected", { hasText: "It will be rainy in Kyoto" }).waitFor();
    await openTab(page, "Raw");
    await page.locator("t2t-raw").getByText('"prompt_ids"').first().waitFor();
    // The tree too.
    await callRows(page).first().click();
    await page.locator("t2t-rollout-view .which", { hasText: "turn 1" }).waitFor();
    assert.match(page.url(), /call=0/);
  });
});

// That numbers keep their digits is tested on what indents them (tests/js/viewer-engine.test.js).
test("the tab Raw has the span of a call", async () => {
  await withFiles(["-t", QWEN, write("raw.jsonl", jsonLines([callRecord({ prompt: [1, 2], response: [3] })]))], async (page) => {
    await rowsOf(page).first().waitFor();
    await openRollout(page);
    await openTab(page, "Raw");
    const raw = page.locator("t2t-raw .line");
    await raw.filter({ hasText: "request_id" }).first().waitFor();
    const shown = (await raw.allInnerTexts()).join("\n");
    assert.match(shown, /"prompt_ids"/);
  });
});

test("what a turn has in common with the one before is folded, with its length, and unfolds", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await openRollout(page);
    const fold = page.locator("t2t-chat .fold", { hasText: "tokens in common with turn 1" });
    assert.match(await fold.innerText(), /\d+ tokens in common with turn 1/);
    await fold.click();
    await page.locator("t2t-chat .old .message").first().waitFor();
    await fold.click();
    await page.locator("t2t-chat .old .message").first().waitFor({ state: "detached" });
    await openTab(page, "Tokens");
    const row = page.locator("t2t-tokens .fold.wide", { hasText: "tokens in common with the call before" });
    const common = Number((await row.innerText()).match(/\d+/)?.[0]);
    assert.ok((await page.locator("t2t-tokens [data-t='0']").count()) === 0);
    await row.click();
    await page.locator("t2t-tokens [data-t='0']").waitFor();
    assert.ok(common > 20);
  });
});

test("where a prompt parts from the turn before, both sides are shown, with ids and text", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await openRollout(page, 1);
    const diverges = page.locator("t2t-chat .diverges");
    await diverges.getByText("The prompt has the same text in other ids than turn 1").waitFor();
    const ids = async (/** @type {string} */ side) => diverges.locator(`.id.${side}.differs small`).allInnerTexts();
    assert.deepEqual(await ids("before"), ["15206"]);
    assert.deepEqual(await ids("after"), ["896", "64", "696"]);
    const texts = async (/** @type {string} */ side) => (await diverges.locator(`.id.${side}.differs > span`).allInnerTexts()).join("");
    assert.deepEqual([await texts("before"), await texts("after")], ["weather", "weather"]);
    // From there to the token.
    await diverges.getByRole("button", { name: "21" }).click();
    await page.locator("t2t-tokens .t.selected").first().waitFor();
    await page.locator("t2t-tokens .other", { hasText: "≠ 15206" }).waitFor();
    await page.locator("t2t-tokens [data-t='21'].finding").waitFor();
    assert.match(page.url(), /tokens=21-/);
    // And from the finding.
    await page.locator("t2t-findings .finding", { hasText: "retokenized" }).click();
    await page.locator("t2t-findings t2t-id-diff", { hasText: "15206" }).waitFor();
  });
});

test("re-tokenization is looked at with the general engine, and both sides are shown", async () => {
  const tokenizer = await Tokenizer.load(readFileSync(QWEN), { engine: "general" });
  const ids = (/** @type {string} */ text) => [...tokenizer.encode(text)];
  const prompt = ids("<|im_start|>user\nName the weather.<|im_end|>\n<|im_start|>assistant\n");
  // A model that writes a word by two tokens where its tokenizer has one.
  const response = [...ids("The"), ...ids(" wea"), ...ids("ther"), ...ids(" is fine.<|im_end|>")];
  tokenizer.free?.();
  const file = write("drift.jsonl", jsonLines([callRecord({ prompt, response })]));
  await withFiles(["-t", QWEN, file], async (page) => {
    await rowsOf(page).first().waitFor();
    await openRollout(page);
    await page.getByRole("button", { name: "Check re-tokenization" }).click();
    const finding = page.locator("t2t-findings .finding", { hasText: /drift/ });
    await finding.first().waitFor();
    await finding.first().click();
    const diff = page.locator("t2t-findings t2t-id-diff");
    await diff.locator(".id").first().waitFor();
    const side = async (/** @type {string} */ name) => (await diff.locator(`.id.${name}.differs small`).allInnerTexts()).map(Number);
    assert.ok((await side("before")).length > (await side("after")).length, `${await side("before")} and ${await side("after")}`);
    assert.ok(response.join().includes((await side("before")).join()));
    await openTab(page, "Tokens");
    await page.locator("t2t-tokens .t.finding").first().waitFor();
    await page.locator("t2t-tokens .other").first().waitFor();
  });
});

test("of two tokenizers the one of the rollout's model is asked", async () => {
  const [qwen, llama] = await Promise.all([QWEN, LLAMA].map((file) => Tokenizer.load(readFileSync(file), { engine: "general" })));
  const say = (/** @type {Tokenizer} */ tokenizer, /** @type {string[]} */ ...texts) => texts.flatMap((text) => [...tokenizer.encode(text, { addSpecialTokens: false })]);
  const of = (/** @type {string} */ model, /** @type {Tokenizer} */ tokenizer) =>
    callRecord({ prompt: say(tokenizer, "Name the weather."), response: say(tokenizer, " The", " wea", "ther", " is fine."), requestId: model, attributes: { model } });
  const file = write("two.jsonl", jsonLines([of("meta-llama/Llama-3.1-8B", llama), of("Qwen/Qwen3-8B", qwen)]));
  const words = [qwen, llama].map((tokenizer) => say(tokenizer, " weather").join());
  qwen.free();
  llama.free();
  await withFiles(["-t", `Qwen/*=${QWEN}`, "-t", `meta-llama/*=${LLAMA}`, file], async (page) => {
    await waitForRollouts(page, 2);
    const seen = [];
    for (const nth of [0, 1]) {
      await openRollout(page, nth);
      await page.getByRole("button", { name: "Check re-tokenization" }).click();
      const finding = page.locator("t2t-findings .finding", { hasText: /drift/ }).first();
      await finding.click();
      seen.push((await page.locator("t2t-findings t2t-id-diff .id.after.differs small").allInnerTexts()).join());
      await finding.click();
    }
    assert.deepEqual(seen.toSorted(), words.toSorted());
  });
});

test("a rollout without drift says so", async () => {
  await withFiles(PLANTED, async (page) => {
    await waitForRollouts(page, 4);
    await openRollout(page, 0);
    await page.getByRole("button", { name: "Check re-tokenization" }).click();
    await page.getByText("Re-tokenization checked").waitFor();
    await page.getByText("the texts give the same ids when they are encoded again").waitFor();
  });
});
