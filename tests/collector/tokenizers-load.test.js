/** Which tokenizers the pool loads, and what it says of those that it cannot load. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Enricher, Tokenizer } from "../../pkg/node.js";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { jsonBytes, needsGeneral } from "../js/support/tokenizers.js";
import { freshFolder } from "./support/folders.js";
import { startPool } from "./support/pool.js";

const folder = freshFolder();
const IDS = [1, 29871, 220, 1000, 15043, 3186, 2, 151645, 13, 999999];

/** A file in a folder of its own. @param {string} name @param {string | Uint8Array} content */
function fileOf(name, content) {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "tokenizer.json"), content);
  return join(folder, name, "tokenizer.json");
}

/** @param {string} [model] */
const record = (model) => jsonBytes({ model, output: { response_ids: IDS } });

/**
 * What a pool and token2text make of records of these models.
 *
 * @param {{ pattern: string, file: string }[]} tokenizers
 * @param {(string | undefined)[]} models
 * @param {any} [options]
 */
async function compare(tokenizers, models, options = {}) {
  const pool = await startPool({ tokenizers, tokenizerOptions: options });
  /** @type {Record<string, Tokenizer>} */
  const loaded = {};
  for (const { pattern, file } of tokenizers) {
    loaded[pattern] = await Tokenizer.load(file.endsWith(".json") ? file : join(file, "tokenizer.json"), options);
  }
  const enricher = new Enricher(loaded, { messages: true });
  const texts = [];
  for (const model of models) {
    const { body } = enricher.enrichBody(record(model), { url: "/a.json" });
    const result = await pool.enrich({ body: record(model), url: "/a.json" });
    assert.equal(result.outcome, "enriched");
    assert.deepEqual(Buffer.from(/** @type {any} */ (result).body), Buffer.from(body), model);
    texts.push(JSON.parse(Buffer.from(body).toString()).output.response_text);
  }
  await pool.close();
  return texts;
}

test("several by the model's name, as a file and as a folder", async () => {
  const texts = await compare([
    { pattern: "Qwen/*", file: join(fetchTokenizer("qwen3"), "tokenizer.json") },
    { pattern: "meta-llama/Llama-3*", file: fetchTokenizer("llama3_1") },
    { pattern: "*", file: fetchTokenizer("llama2") },
    { pattern: "again/*", file: fetchTokenizer("llama2") },
  ], ["Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B", "other", undefined]);
  assert.equal(new Set(texts).size, 3);
});

test("one that needs the general engine, beside one that does not", async () => {
  const general = fileOf("general", jsonBytes(needsGeneral()));
  await compare([{ pattern: "g", file: general }, { pattern: "*", file: fetchTokenizer("qwen3") }], ["g", "q"]);
});

test("transformers' reading, by the tokenizer's own configuration", async () => {
  const file = join(fetchTokenizer("llama2"), "tokenizer.json");
  const config = join(fetchTokenizer("llama2"), "tokenizer_config.json");
  for (const compat of ["tokenizers", "transformers4", "transformers5"]) await compare([{ pattern: "*", file }], ["m"], { compat, config });
});

test("health names files and when they were loaded", async () => {
  const file = join(fetchTokenizer("qwen3"), "tokenizer.json");
  const pool = await startPool();
  const { ready, workers, tokenizers } = pool.health();
  assert.deepEqual({ ready, workers }, { ready: true, workers: 1 });
  assert.deepEqual(Object.keys(tokenizers[0]), ["pattern", "file", "loadedAt"]);
  assert.equal(tokenizers[0].file, file);
  assert.ok(Math.abs(Date.parse(tokenizers[0].loadedAt) - Date.now()) < 60_000);
  await pool.close();
});

const whole = readFileSync(join(fetchTokenizer("llama2"), "tokenizer.json"));
mkdirSync(join(folder, "nothing"));
/** @type {[string, string, RegExp][]} */
const BAD = [
  ["absent", join(folder, "absent.json"), /cannot read .*absent\.json: ENOENT.*; give/],
  ["a folder without one", join(folder, "nothing"), /cannot read .*nothing\/tokenizer\.json/],
  ["half a file", fileOf("half", whole.subarray(0, whole.length / 2)), /half\/tokenizer\.json cannot be loaded \(invalid_tokenizer\)/],
  ["a page", fileOf("page", "<!doctype html><title>Log in</title>"), /page\/tokenizer\.json cannot be loaded \(invalid_tokenizer\): .*HTML/],
  ["another kind of file", fileOf("kind", "[1]"), /kind\/tokenizer\.json cannot be loaded \(/],
];
for (const [name, file, message] of BAD) {
  test(`it does not start with ${name}`, async () => {
    await assert.rejects(startPool({ tokenizers: [{ pattern: "*", file }] }), message);
  });
}

test("it does not start with a configuration that cannot be read", async () => {
  const tokenizerOptions = { compat: /** @type {const} */ ("transformers4"), config: join(folder, "absent_config.json") };
  await assert.rejects(startPool({ tokenizerOptions }), /cannot read .*absent_config\.json.*; give/);
});
