/** The page of www/, built and served, in headless Chromium. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { servePage } from "../../scripts/serve.js";
import { withPage } from "./support/browser.js";
import { byteIds, byteLevel, jsonBytes, needsGeneral } from "./support/tokenizers.js";

/** @typedef {import("playwright-core").Page} Page */

/** @type {{ url: string, close: () => Promise<void> }} */
let server;
before(async () => {
  server = await servePage(4400);
});
const folder = mkdtempSync(join(tmpdir(), "token2text-"));
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const file = (/** @type {string} */ name, /** @type {Uint8Array | string} */ bytes) => ({ name, mimeType: "", buffer: Buffer.from(bytes) });
const tokenizerFile = file("tokenizer.json", jsonBytes(byteLevel()));
const record = (/** @type {string} */ text, more = {}) => ({
  name: "generate",
  inputs: { prompt_ids: byteIds(`ask ${text}`) },
  outputs: { token_ids: [...byteIds(text), 257] },
  attributes: { step: 3, validate: false },
  ...more,
});
const traceFile = (/** @type {unknown[]} */ ...records) => file("calls.jsonl", records.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join("\n"));

/** @param {Page} page @param {ReturnType<typeof file>} trace */
async function decode(page, trace, tokenizer = tokenizerFile) {
  await page.goto(server.url);
  await page.setInputFiles("#tokenizer-file", tokenizer);
  await page.setInputFiles("#trace-file", trace);
  // The file is done once when it is read, and again when it is decoded.
  await page.locator('#trace-source[data-state="done"] .status', { hasText: /: [\d,]+ records$/ }).waitFor();
  await painted(page);
}

/** @param {Page} page @param {"trace" | "tokenizer"} which @param {string} state */
async function done(page, which, state = "done") {
  await page.locator(`#${which}-source[data-state="${state}"]`).waitFor();
  await painted(page);
}

/** Records have no inner text before a frame has shown that they are in sight. @param {Page} page */
async function painted(page) {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  });
}

test("two files give readable records", () =>
  withPage({}, async (page) => {
    await decode(page, traceFile(record("first <b>bold</b>"), record("second 你好")));
    assert.match(await page.locator("#tokenizer-source .status").innerText(), /258 tokens, ByteLevel/);
    const first = page.locator(".record").first();
    assert.match(await first.locator("h2").innerText(), /generate/);
    assert.match(await first.locator(".attributes").innerText(), /step 3\s*validate false/);
    assert.equal(await first.locator(".prompt .text").innerText(), "ask first <b>bold</b>");
    assert.equal(await first.locator(".response .text").innerText(), "first <b>bold</b><|end|>");
    assert.equal(await first.locator(".response .special").innerText(), "<|end|>");
    assert.match(await page.locator("#totals").innerText(), /records\s*2\s*prompts\s*2\s*responses\s*2/);
  }));

test("the order of the files does not matter, and gzip is opened", () =>
  withPage({}, async (page) => {
    await page.goto(server.url);
    await page.setInputFiles("#trace-file", file("calls.jsonl.gz", gzipSync(JSON.stringify(record("zipped")))));
    await done(page, "trace");
    assert.match(await page.locator("#trace-source .status").innerText(), /waiting for a tokenizer/);
    await page.setInputFiles("#tokenizer-file", file("tokenizer.json.gz", gzipSync(jsonBytes(byteLevel()))));
    await page.locator(".record").waitFor();
    await painted(page);
    assert.match(await page.locator(".response .text").innerText(), /^zipped/);
  }));

test("ids are shown on demand, skipped fields and broken lines with their reasons", () =>
  withPage({}, async (page) => {
    await decode(page, traceFile(record("ok"), "not JSON", record("", { outputs: { token_ids: [1, -1] } })));
    await page.locator(".record").first().locator(".response summary").click();
    assert.match(await page.locator(".record").first().locator(".response .ids pre").innerText(), /^111 107 257$/);
    const records = page.locator(".record");
    assert.match(await records.nth(1).innerText(), /broken line[\s\S]*Copied unchanged/);
    assert.match(await records.nth(2).locator(".skipped").innerText(), /Skipped: .*-1[\s\S]*\/outputs\/token_ids/);
    assert.match(await page.locator("#problems").innerText(), /Not decoded[\s\S]*skipped/);
  }));

test("a document with an array is a list of records", () =>
  withPage({}, async (page) => {
    await decode(page, file("calls.json", JSON.stringify([record("one"), record("two")], null, 2)));
    assert.equal(await page.locator(".record").count(), 2);
    assert.match(await page.locator(".record").nth(1).locator(".response .text").innerText(), /^two/);
    await page.locator(".record").nth(1).locator(".response summary").click();
    assert.match(await page.locator(".record").nth(1).locator(".response .ids pre").innerText(), /^116 119 111/);
  }));

test("a request of OTLP shows its texts", () =>
  withPage({}, async (page) => {
    const ids = { arrayValue: { values: byteIds("traced").map((id) => ({ intValue: String(id) })) } };
    const output = { key: "mlflow.spanOutputs", value: { kvlistValue: { values: [{ key: "response_ids", value: ids }] } } };
    const span = { name: "generate", attributes: [output, { key: "response_ids", value: ids }] };
    await decode(page, file("traces.json", JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })));
    assert.equal(await page.locator(".response .text").first().innerText(), "traced");
    await page.locator(".response summary").first().click();
    assert.match(await page.locator(".response .ids pre").first().innerText(), /^116 114 97 99 101 100$/);
  }));

test("search filters and marks", () =>
  withPage({}, async (page) => {
    await decode(page, traceFile(record("apple"), record("Pear and APPLE"), record("plum")));
    await page.fill("#search", "apple");
    await page.locator("#matches", { hasText: "2 of 3 records" }).waitFor();
    await painted(page);
    assert.equal(await page.locator(".record").count(), 2);
    assert.equal(await page.locator(".record").nth(1).locator(".response mark").innerText(), "APPLE");
    await page.fill("#search", "no such thing");
    await page.locator(".nothing").waitFor();
    await page.fill("#search", "");
    await page.locator("#matches", { hasText: /^3 records$/ }).waitFor();
  }));

test("the download is the enriched file", () =>
  withPage({ acceptDownloads: true }, async (page) => {
    await decode(page, traceFile(record("hello"), "not JSON"));
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
    assert.equal(download.suggestedFilename(), "calls.text.jsonl");
    const lines = readFileSync(await download.path(), "utf8").split("\n");
    assert.equal(JSON.parse(lines[0]).outputs.response_text, "hello<|end|>");
    assert.equal(lines[1], "not JSON");
  }));

test("a wrong file is told in words, and the next one works", () =>
  withPage({}, async (page) => {
    await page.goto(server.url);
    await page.setInputFiles("#tokenizer-file", file("tokenizer.json", "{}"));
    await done(page, "tokenizer", "failed");
    assert.notEqual(await page.locator("#tokenizer-source [role=alert]").innerText(), "");
    await page.setInputFiles("#tokenizer-file", tokenizerFile);
    await done(page, "tokenizer");
    await page.setInputFiles("#trace-file", file("notes.txt", "hello\nworld"));
    await done(page, "trace", "failed");
    assert.notEqual(await page.locator("#trace-source [role=alert]").innerText(), "");
  }));

test("a tokenizer that needs the general engine fetches it", () =>
  withPage({}, async (page) => {
    /** @type {string[]} */
    const fetched = [];
    page.on("request", (request) => fetched.push(request.url()));
    await decode(page, traceFile({ output: { response_ids: [0, 1, 3] } }), file("tokenizer.json", jsonBytes(needsGeneral())));
    assert.equal(await page.locator(".response .text").innerText(), "a b");
    assert.equal(fetched.filter((url) => url.includes("general") && url.endsWith(".wasm")).length, 1);
    assert.ok(fetched.every((url) => url.startsWith(server.url) || url.startsWith("blob:")), fetched.join(" "));
  }));

test("files dropped anywhere go where they belong", () =>
  withPage({}, async (page) => {
    await page.goto(server.url);
    const data = await page.evaluateHandle(
      ([tokenizer, trace]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([tokenizer], "tokenizer.json"));
        transfer.items.add(new File([trace], "calls.jsonl"));
        return transfer;
      },
      [JSON.stringify(byteLevel()), JSON.stringify(record("dropped"))],
    );
    await page.dispatchEvent("body", "drop", { dataTransfer: data });
    await page.locator(".record").waitFor();
    await painted(page);
    assert.match(await page.locator(".response .text").innerText(), /^dropped/);
  }));

test("five thousand records stay usable", () =>
  withPage({}, async (page) => {
    const records = Array.from({ length: 5000 }, (_, i) => record(`number ${i} ${"word ".repeat(200)}`));
    const path = join(folder, "calls.jsonl"); // by path, for Chromium reads it by itself then
    writeFileSync(path, traceFile(...records).buffer);
    await page.goto(server.url);
    await page.setInputFiles("#tokenizer-file", tokenizerFile);
    await done(page, "tokenizer");
    await page.evaluate(() => {
      const seen = { longest: 0 };
      Object.assign(window, { seen });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) seen.longest = Math.max(seen.longest, entry.duration);
      }).observe({ type: "longtask" });
    });
    await page.setInputFiles("#trace-file", path);
    await page.locator("#trace-source .status", { hasText: "5,000 records" }).waitFor();
    assert.ok((await page.locator(".record").count()) < 200, "records come as the reader comes near");
    const longest = await page.evaluate(() => /** @type {any} */ (window).seen.longest);
    assert.ok(longest < 500, `the page froze for ${longest} ms`);
    await page.fill("#search", "number 4321 ");
    await page.locator("#matches", { hasText: "1 of 5,000 records" }).waitFor();
    await painted(page);
    assert.match(await page.locator(".response .text").innerText(), /^number 4321/);
  }));
