/** Recorded bodies through the package: as bytes and as parsed records, which must come to the same. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Enricher, Tokenizer, strip } from "../../pkg/node.js";

const CAPTURES = new URL("../fixtures/captures/", import.meta.url);
const TOKENIZERS = new URL("../../.cache/tokenizers/", import.meta.url);
const names = readdirSync(CAPTURES, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
const json = (/** @type {URL} */ url) => JSON.parse(readFileSync(url, "utf8"));

/** @type {Map<string, Enricher>} */
const enrichers = new Map();
function enricherFor(/** @type {string} */ key) {
  let enricher = enrichers.get(key);
  if (!enricher) {
    enricher = new Enricher(Tokenizer.fromBytes(readFileSync(new URL(`${key}/tokenizer.json`, TOKENIZERS))));
    enrichers.set(key, enricher);
  }
  return enricher;
}

/** @param {any} value */
function deepFreeze(value) {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

let records = 0;
for (const name of names) {
  test(name, () => {
    const folder = new URL(`${name}/`, CAPTURES);
    const meta = json(new URL("meta.json", folder));
    const enricher = enricherFor(meta.tokenizer[0]);
    for (const { file } of meta.files) {
      const body = readFileSync(new URL(file, folder));
      const enriched = enricher.enrichBody(body);
      // A null that a text took the place of cannot be given back.
      if (!/edge-(ids-)?(qwen3|llama2)/.test(name)) assert.deepEqual(Buffer.from(strip(enriched.body)), body);
      const isLines = !file.endsWith(".json");
      for (const text of isLines ? body.toString().split("\n") : [body.toString()]) compareRecord(enricher, text);
    }
  });
}

/** A record as bytes and as an object. @param {Enricher} enricher @param {string} text */
function compareRecord(enricher, text) {
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    return;
  }
  if (typeof record !== "object" || record === null) return;
  records += 1;
  const bytes = new TextEncoder().encode(JSON.stringify(record));
  const fromBytes = enricher.enrichBody(bytes);
  const fromObject = enricher.enrich(deepFreeze(record));
  // Through JSON, which has no -0.
  assert.deepEqual(JSON.parse(JSON.stringify(fromObject.span)), JSON.parse(new TextDecoder().decode(fromBytes.body)));
  const { rule, ...rest } = fromBytes.report;
  assert.deepEqual({ ...fromObject.report, rule }, { rule, ...rest });
  if (fromObject.report.totals.decoded === 0) assert.ok(fromObject.span === record || fromObject.report.totals.replaced > 0);
}

test("all captures were there", () => {
  assert.ok(names.length >= 49 && records > 200, `${names.length} captures, ${records} records`);
});
