/** Tokenizers that change while bodies flow. */
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { enricherOf, recorded } from "./support/bodies.js";
import { freshFolder } from "./support/folders.js";
import { startPool } from "./support/pool.js";

const folder = freshFolder();
const body = recorded("verl-calls-qwen3/calls.jsonl");
const source = (/** @type {string} */ key) => join(fetchTokenizer(key), "tokenizer.json");
const textOf = (/** @type {string} */ key) => Buffer.from(enricherOf(key).enrichBody(body.body, { url: body.url }).body).toString();
const TEXTS = { qwen3: textOf("qwen3"), llama2: textOf("llama2") };

/** Puts another tokenizer in its place at once, as tools that download do. @param {string} key @param {string} file */
function replace(key, file) {
  copyFileSync(source(key), `${file}.new`);
  renameSync(`${file}.new`, file);
}

/** @param {() => boolean} holds */
async function until(holds) {
  while (!holds()) await sleep(50);
}

test("new workers take over, and every body is enriched by the one or the other", async () => {
  const file = join(folder, "swap.json");
  replace("qwen3", file);
  const pool = await startPool({ workers: 2, tokenizers: [{ pattern: "*", file }] });
  const before = pool.health().tokenizers[0].loadedAt;
  let isOver = false;
  /** @type {Promise<Set<string>>[]} */
  const flows = Array.from({ length: 4 }, async () => {
    const texts = new Set();
    while (!isOver) {
      const result = await pool.enrich(body);
      assert.equal(result.outcome, "enriched");
      texts.add(Buffer.from(/** @type {any} */ (result).body).toString());
    }
    return texts;
  });
  await pool.enrich(body);
  replace("llama2", file);
  await until(() => pool.health().tokenizers[0].loadedAt !== before);
  isOver = true;
  const seen = new Set((await Promise.all(flows)).flatMap((texts) => [...texts]));
  assert.deepEqual([...seen].every((text) => Object.values(TEXTS).includes(text)), true);
  const after = await pool.enrich(body);
  assert.equal(Buffer.from(/** @type {any} */ (after).body).toString(), TEXTS.llama2);
  await pool.close();
});

test("a file that is half written leaves the old one, until it is whole", async () => {
  const file = join(folder, "half.json");
  replace("qwen3", file);
  const pool = await startPool({ tokenizers: [{ pattern: "*", file }] });
  const whole = readFileSync(source("llama2"));
  writeFileSync(file, whole.subarray(0, 100_000));
  await until(() => pool.health().tokenizers[0].error !== undefined);
  assert.match(/** @type {string} */ (pool.health().tokenizers[0].error), /half\.json cannot be loaded \(invalid_tokenizer\)/);
  assert.match(pool.lines.join(""), /the one before stays/);
  assert.equal(Buffer.from(/** @type {any} */ (await pool.enrich(body)).body).toString(), TEXTS.qwen3);
  writeFileSync(file, whole);
  await until(() => pool.health().tokenizers[0].error === undefined);
  await until(() => pool.lines.some((line) => line.includes("are in use")));
  assert.equal(Buffer.from(/** @type {any} */ (await pool.enrich(body)).body).toString(), TEXTS.llama2);
  await pool.close();
});

test("a file that is touched but the same changes nothing", async () => {
  const same = join(folder, "same.json");
  const other = join(folder, "other.json");
  replace("qwen3", same);
  replace("qwen3", other);
  const pool = await startPool({ tokenizers: [{ pattern: "Qwen/*", file: same }, { pattern: "*", file: other }] });
  const before = pool.health().tokenizers.map(({ loadedAt }) => loadedAt);
  replace("qwen3", same);
  replace("llama2", other);
  await until(() => pool.health().tokenizers[1].loadedAt !== before[1]);
  assert.equal(pool.health().tokenizers[0].loadedAt, before[0]);
  assert.deepEqual(pool.lines.map((line) => JSON.parse(line).files), [[other]]);
  await pool.close();
});
