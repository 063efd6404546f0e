/** What is shown is what the reference library decodes: in each tab, for recorded rollouts. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, fixture, tokenizerOf } from "./support/fixtures.js";
import { says, shownCalls } from "./support/shown.js";
import { openRollout, openTab, rowsOf, withFiles } from "./support/viewer.js";

/** @type {{ capture: string, tokenizer: string, calls: import("./support/shown.js").Call[] }[]} */
const CAPTURES = JSON.parse(readFileSync(join(ROOT, "tests/oracle/viewer.json"), "utf8"));

/** Of the window: so that long texts are few screens. */
const HEIGHT = 3000;

for (const { capture, tokenizer, calls } of CAPTURES) {
  test(`the tabs Text and Tokens say what the reference decodes: ${capture}`, async () => {
    await withFiles(["-t", tokenizerOf(tokenizer), fixture(`captures/${capture}/calls.jsonl`)], async (page) => {
      await rowsOf(page).first().waitFor();
      const found = { Text: new Set(), Tokens: new Set() };
      const isLong = calls.some(({ text }) => text === undefined);
      const tabs = /** @type {("Text" | "Tokens")[]} */ (isLong ? ["Tokens"] : ["Text", "Tokens"]);
      for (let row = 0; row < (await rowsOf(page).count()); row++) {
        await openRollout(page, row);
        for (const tab of tabs) {
          await openTab(page, tab);
          for (const shown of await shownCalls(page, tab === "Text" ? "t2t-text" : "t2t-tokens")) {
            for (const one of calls.filter((one) => says(shown, one))) found[tab].add(one.line);
          }
        }
      }
      for (const tab of tabs) {
        const missing = calls.filter(({ line }) => !found[tab].has(line)).map(({ line, text }) => ({ line, text }));
        assert.deepEqual(missing, [], `${tab} shows another text for these`);
      }
    }, { context: { viewport: { width: 1280, height: HEIGHT } } });
  });
}

/** What a template writes around messages. */
const MARKS = /^(?:<\|[a-z_]+\|>|<\/?(?:s|think|tool_call|tool_response)>|\[\/?[A-Z_]+\]|system|user|assistant|ipython|tool|\{"name":"|","(?:arguments|parameters)":|\}|\[|\])*$/;

/** Without white space, which the chat lays out anew. @param {string} text */
const dense = (text) => text.replace(/\s+/g, "");

for (const { capture, tokenizer, calls } of CAPTURES.filter(({ capture }) => capture.startsWith("verl-calls"))) {
  test(`the tab Chat has all of the text but the marks of the template: ${capture}`, async () => {
    await withFiles(["-t", tokenizerOf(tokenizer), fixture(`captures/${capture}/calls.jsonl`)], async (page) => {
      await rowsOf(page).first().waitFor();
      for (let row = 0; row < (await rowsOf(page).count()); row++) {
        await openRollout(page, row);
        const chat = page.locator("t2t-chat");
        await chat.locator(".message").first().waitFor();
        // The whole conversation fits: the page is high enough for it.
        while (await chat.locator(".fold[aria-expanded=false]", { hasText: "Reasoning" }).count()) await chat.locator(".fold[aria-expanded=false]", { hasText: "Reasoning" }).first().click();
        const parts = await chat.locator(".message .content, .message .tool-name .mono").evaluateAll((all) => all.map((one) => {
          const copy = /** @type {HTMLElement} */ (one.cloneNode(true));
          for (const chip of copy.querySelectorAll(".hidden-chip")) {
            const code = /U\+([0-9A-F]+)$/.exec(/** @type {HTMLElement} */ (chip).title)?.[1];
            chip.replaceWith(code ? String.fromCodePoint(parseInt(code, 16)) : "");
          }
          return copy.textContent ?? "";
        }));
        assert.ok(parts.length > 3);
        const whole = calls.map(({ text = "" }) => dense(text)).filter((text) => parts.every((part) => text.includes(dense(part))));
        assert.ok(whole.length > 0, `no call has all of ${JSON.stringify(parts)}`);
        const longest = whole.reduce((one, other) => (other.length > one.length ? other : one));
        const rest = parts.reduce((text, part) => text.replace(dense(part), "\n"), longest);
        assert.deepEqual(rest.split("\n").filter((text) => !MARKS.test(text)), []);
      }
    }, { context: { viewport: { width: 1280, height: 6000 } } });
  });
}
