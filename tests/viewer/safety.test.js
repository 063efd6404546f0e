/** A trace is hostile: whatever it says is text. Each test fails too if a script runs, a policy is broken, or anything is asked. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { byteIds, chatMl } from "../js/support/tokenizers.js";
import { callRecord, jsonLines, temporaryFolder } from "./support/fixtures.js";
import { drop, openRollout, openTab, rowsOf, waitForRollouts, withFiles, withViewer } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const { write } = temporaryFolder();
const [OPEN, CLOSE] = [258, 259];
const HTML = `<img id=planted src="http://192.0.2.1/x.png" onerror="executed()"><script id=planted>executed()</script></script></textarea></style><svg onload=executed()>`;
const LINKS = `[click](javascript:executed()) javascript:executed() http://192.0.2.1/link <a id=planted href="javascript:executed()">x</a>`;
/** What a browser hides or obeys, and the names under which it is shown. @type {[text: string, name: string][]} */
const HIDDEN = [["\u202egnp.exe\u202c", "RLO"], ["\u2066x\u2069", "LRI"], ["\u0000", "NUL"], ["\u200b", "ZWSP"], ["\u001b[31m", "ESC"], ["\ufeff", "BOM"], ["\u{e0041}\u{e0042}", 'TAG "AB"']];
const BAD = `${HTML}${LINKS}${HIDDEN.map(([text]) => text).join("-")}`;
/** Short enough for places that cut. */
const SHORT = `<b id=planted onclick=executed()>\u202e\u0000\u200b{{constructor}}`;

/** @param {string} role @param {string} text */
const message = (role, text) => [OPEN, ...byteIds(`${role}\n${text}`), CLOSE, ...byteIds("\n")];
const prompt = [...message("system", BAD), ...message(SHORT, BAD), ...message("user", BAD), OPEN, ...byteIds("assistant\n")];
const call = `<tool_call>\n${JSON.stringify({ name: SHORT, arguments: { [SHORT]: BAD } })}\n</tool_call>`;
const response = [...byteIds(`<think>\n${BAD}\n</think>\n\n${BAD}\n${call}`), CLOSE];
const numbers = { [`<i id=planted>\u202e`]: response.map((_, at) => at) };
const facts = { step: 1, sample_index: 0, validate: false, experiment_name: SHORT, rollout_n: 0 };
/** @param {string} id @param {number} n */
const record = (id, n) => ({
  ...callRecord({ prompt, response, logprobs: response.map(() => -1), requestId: `${SHORT}${id}`, name: SHORT, traceId: `${SHORT}${id}`, outputs: numbers, attributes: { ...facts, rollout_n: n } }),
  model: `${SHORT}${n}`,
});
const TRACE = jsonLines([record("a", 0), record("b", 1), { name: SHORT, inputs: { prompt_ids: [SHORT, -1] }, outputs: { token_ids: ["x"] } }]) + `{"${HTML}\n`;
const tokenizer = chatMl();
tokenizer.added_tokens.push({ ...tokenizer.added_tokens[0], id: 260, content: SHORT });

const SPECIAL = write("tokenizer.json", tokenizer);
const FILE = write(`<img src=x onerror=executed()> \u202e trace.jsonl`, TRACE);

/** Nothing in the page is made of data: no element that the trace names, no attribute that runs, no link of its own. @param {Page} page */
async function assertInert(page) {
  const found = await page.evaluate(() => {
    /** @type {string[]} */
    const wrong = [];
    const walk = (/** @type {any} */ root) => {
      for (const element of root.querySelectorAll("*")) {
        if (element.id === "planted" || ["SCRIPT", "IMG", "IFRAME", "OBJECT", "EMBED", "B", "LINK"].includes(element.tagName) && !element.closest("head")) wrong.push(element.outerHTML.slice(0, 120));
        for (const { name, value } of element.attributes) {
          if (/^on/i.test(name) || /^\s*javascript:/i.test(value) || (["href", "src", "action", "formaction", "srcdoc"].includes(name) && !element.closest("head"))) wrong.push(`${element.tagName} ${name}=${value}`);
          // Titles and labels are drawn by the browser, or said; values of options are neither.
          if (name !== "value" && /[\u202a-\u202e\u2066-\u2069\u200b\u0000-\u0008]/.test(value)) wrong.push(`${element.tagName} ${name} has hidden characters`);
        }
        if (element.shadowRoot) walk(element.shadowRoot);
      }
      for (const text = document.createTreeWalker(root, NodeFilter.SHOW_TEXT); text.nextNode(); ) {
        const { data, parentElement } = /** @type {Text} */ (text.currentNode);
        if (/[\u202a-\u202e\u2066-\u2069\u200b\u0000-\u0008\u001b\ufeff]/.test(data) && !/^(STYLE|SCRIPT)$/.test(parentElement?.tagName ?? "")) wrong.push(`text with hidden characters: ${JSON.stringify(data.slice(0, 60))} in ${parentElement?.outerHTML.slice(0, 80)}`);
      }
      if (/[\u202a-\u202e\u2066-\u2069\u200b\u0000-\u0008]/.test(document.title)) wrong.push("the title has hidden characters");
    };
    walk(document);
    return [...new Set(wrong)];
  });
  assert.deepEqual(found, []);
}

test("in every tab hostile text is text, and what is hidden stands there by name", async () => {
  await withFiles(["-t", SPECIAL, FILE], async (page) => {
    await rowsOf(page).nth(1).waitFor();
    await assertInert(page);
    await openRollout(page);
    const chat = page.locator("t2t-chat");
    await chat.locator(".message").nth(3).waitFor();
    for (const fold of await chat.locator(".fold[aria-expanded=false]").all()) await fold.click();
    await assertInert(page);
    const shown = (await chat.locator(".content").allInnerTexts()).join("\n");
    assert.ok(shown.includes("onerror=\"executed()\">"), shown.slice(0, 2000));
    for (const [, name] of HIDDEN) await chat.locator(".hidden-chip", { hasText: name }).first().waitFor();
    for (const tab of /** @type {const} */ (["Text", "Tokens", "Raw"])) {
      await openTab(page, tab);
      await page.locator(`t2t-${tab.toLowerCase()} [data-row]`).first().waitFor();
      await assertInert(page);
      if (tab !== "Raw") await page.locator(`t2t-${tab.toLowerCase()} .hidden-chip`).first().waitFor();
    }
    await openTab(page, "Tokens");
    for (const name of await page.getByRole("combobox", { name: "Colour" }).locator("option").all()) {
      await page.getByRole("combobox", { name: "Colour" }).selectOption((await name.getAttribute("value")) ?? "");
      await assertInert(page);
    }
    await page.locator("t2t-tokens [data-t='20']").hover();
    await page.locator("t2t-token-card").waitFor();
    await assertInert(page);
  }, { context: { viewport: { width: 1280, height: 2400 } } });
});

test("in the list, groups, siblings, hits, findings and problems it is text too", async () => {
  await withFiles(["-t", SPECIAL, FILE], async (page) => {
    await rowsOf(page).nth(1).waitFor();
    await page.getByRole("button", { name: "Group" }).click();
    await page.locator("t2t-list .group").first().waitFor();
    await assertInert(page);
    await page.getByRole("button", { name: "Group" }).click();
    await openRollout(page);
    await page.keyboard.press("s");
    await page.locator("t2t-siblings .message").nth(1).waitFor();
    await assertInert(page);
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: "Search" }).fill("onerror");
    await page.locator("t2t-results [role=option]").first().waitFor();
    await assertInert(page);
    await page.getByLabel("What is searched for").selectOption("regex");
    await page.getByRole("searchbox", { name: "Search" }).fill(`(<b onclick=executed()>\u202e`);
    await page.locator("t2t-search").getByRole("alert").waitFor();
    await assertInert(page);
    await page.getByRole("button", { name: /\d+ problems?/ }).click();
    await page.getByRole("dialog").waitFor();
    await assertInert(page);
  });
});

test("names of files and what is wrong with them are text", async () => {
  const broken = write(`<img id=planted src=x onerror=executed()>\u202e/tokenizer.json`, `{"version":"1.0","truncation":null,"model":{"type":"${HTML.replaceAll('"', "'")}\u202e"}}`);
  await withViewer({}, async (page) => {
    await drop(page, [broken]);
    await page.getByRole("region", { name: "Tokenizers", exact: true }).getByRole("alert").waitFor();
    await assertInert(page);
    await drop(page, [write(`\u202e<b id=planted>.jsonl`, `{"a":"${HTML}`)]);
    await page.getByRole("region", { name: "Traces" }).getByRole("alert").first().waitFor();
    await assertInert(page);
  });
});

test("a link with hostile parts opens nothing", async () => {
  await withFiles(["-t", SPECIAL, FILE], async (page) => {
    await rowsOf(page).first().waitFor();
    await page.getByText("The rollout of the link is not here").waitFor();
    await assertInert(page);
  }, { hash: `#rollout=${encodeURIComponent(HTML)}&tab=${encodeURIComponent("<b>")}&tokens=9-1&call=-5` });
});

test("addresses that are no addresses of files are refused in words", async () => {
  await withViewer({ expected: /./ }, async (page) => {
    for (const address of ["javascript:executed()", "data:text/html,<script>executed()</script>", "file:///etc/passwd"]) {
      await page.getByRole("tab", { name: "Address" }).click();
      await page.getByLabel("URL").fill(address);
      await page.locator("t2t-server-form").getByRole("button", { name: "Open" }).click();
      await page.getByRole("region", { name: "Traces" }).getByRole("alert").first().waitFor();
    }
  });
});

test("the page asks for nothing but its own files and those that are opened", async () => {
  await withFiles(["-t", SPECIAL, FILE], async (page, { origin }) => {
    /** @type {string[]} */
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.reload();
    await waitForRollouts(page, 2);
    const paths = asked.filter((url) => !/^(data|blob):/.test(url)).map((url) => decodeURIComponent(url.slice(origin.length)).split("?")[0]);
    assert.ok(asked.every((url) => url.startsWith(origin) || /^(data|blob):/.test(url)), asked.join());
    for (const path of paths) assert.match(path, /^\/($|[\w-]+\.(js|css|wasm)$|exporters\/[\w-]+\.js$|sample\/|given\/|favicon)/);
  });
});
