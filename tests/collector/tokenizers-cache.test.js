/** Packed tokenizers in a folder. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { openTokenizers } from "../../collector/src/enrichment/tokenizers.js";
import { writePacked } from "../../collector/src/enrichment/packed-cache.js";
import { Tokenizer } from "../../pkg/node.js";
import { freshFolder } from "./support/folders.js";
import { logLines } from "./support/pool.js";

const folder = freshFolder();
const file = (/** @type {string} */ key) => join(fetchTokenizer(key), "tokenizer.json");
const packedOf = async (/** @type {string} */ key) => Buffer.from((await Tokenizer.load(file(key))).pack());
const YEAR = 365 * 86_400_000;

/** @param {string} cacheFolder @param {string} key @param {object} [options] */
async function open(cacheFolder, key = "llama2", options = {}) {
  const { log, lines } = logLines();
  const tokenizers = await openTokenizers({ tokenizers: [{ pattern: "*", file: file(key) }], tokenizerOptions: options, cacheFolder }, log);
  await tokenizers.close();
  return { bytes: Buffer.from(new Uint8Array(tokenizers.packed[0].bytes)), lines };
}

test("the first load writes a file for this user alone, the second one reads it", async () => {
  const cache = join(folder, "first");
  assert.deepEqual((await open(cache)).bytes, await packedOf("llama2"));
  const [name, ...more] = readdirSync(cache);
  assert.deepEqual(more, []);
  assert.match(name, /^[0-9a-f]{64}\.packed$/);
  assert.equal(statSync(join(cache, name)).mode & 0o777, 0o600);
  assert.equal(statSync(cache).mode & 0o777, 0o700);
  // What is read is the file: another tokenizer's, in its form and under its name.
  await writePacked(cache, name.slice(0, 64), await packedOf("qwen3"));
  assert.deepEqual((await open(cache)).bytes, await packedOf("qwen3"));
});

test("another file, other options and another configuration have other names", async () => {
  const cache = join(folder, "names");
  const config = join(fetchTokenizer("llama2"), "tokenizer_config.json");
  await open(cache, "llama2");
  await open(cache, "qwen3");
  await open(cache, "llama2", { compat: "transformers4", config });
  await open(cache, "llama2", { compat: "transformers5", config });
  assert.equal(readdirSync(cache).length, 4);
});

test("what is damaged, cut, of another name or writable by others is not used, and written anew", async () => {
  const cache = join(folder, "damaged");
  const right = (await open(cache)).bytes;
  const path = join(cache, readdirSync(cache)[0]);
  const good = readFileSync(path);
  /** @type {[string, () => void][]} */
  const damages = [
    ["empty", () => writeFileSync(path, "")],
    ["cut", () => writeFileSync(path, good.subarray(0, good.length - 1))],
    ["longer", () => writeFileSync(path, Buffer.concat([good, Buffer.from("x")]))],
    ["one bit", () => writeFileSync(path, Buffer.from(good.map((byte, i) => (i === good.length - 1000 ? byte ^ 1 : byte))))],
    ["no head", () => writeFileSync(path, right)],
    ["something else", () => writeFileSync(path, "not a tokenizer\n")],
    ["writable by others", () => chmodSync(path, 0o666)],
  ];
  for (const [name, damage] of damages) {
    damage();
    assert.deepEqual((await open(cache)).bytes, right, name);
    assert.deepEqual(readFileSync(path), good, name);
    assert.equal(statSync(path).mode & 0o777, 0o600, name);
  }
  await open(cache, "qwen3");
  const other = readdirSync(cache).map((name) => join(cache, name)).find((candidate) => candidate !== path);
  copyFileSync(/** @type {string} */ (other), path);
  assert.deepEqual((await open(cache)).bytes, right);
});

test("the 32 that were used last are kept", async () => {
  const cache = join(folder, "many");
  mkdirSync(cache);
  for (let i = 0; i < 40; i++) {
    const path = join(cache, `${String(i).padStart(64, "0")}.packed`);
    writeFileSync(path, "");
    utimesSync(path, new Date(Date.now() - YEAR + i * 1000), new Date(Date.now() - YEAR + i * 1000));
  }
  const left = join(cache, "1.1.packed.tmp");
  writeFileSync(left, "");
  utimesSync(left, new Date(Date.now() - YEAR), new Date(Date.now() - YEAR));
  writeFileSync(join(cache, "notes.txt"), "not ours");
  await open(cache);
  const names = readdirSync(cache).sort();
  assert.equal(names.filter((name) => name.endsWith(".packed")).length, 32);
  assert.ok(!names.includes(`${"8".padStart(64, "0")}.packed`) && names.includes(`${"9".padStart(64, "0")}.packed`));
  assert.ok(names.includes("notes.txt") && !names.includes("1.1.packed.tmp"));
});

test("a folder that cannot be written costs the cache alone", async () => {
  writeFileSync(join(folder, "file"), "");
  const { bytes, lines } = await open(join(folder, "file", "cache"));
  assert.deepEqual(bytes, await packedOf("llama2"));
  assert.match(lines.join(""), /could not be kept in the cache folder/);
});

test("several processes at once", async () => {
  const cache = join(folder, "shared");
  const right = await packedOf("llama2");
  const script = new URL("./support/open-tokenizer.js", import.meta.url);
  const processes = Array.from({ length: 4 }, () => fork(script, [file("llama2"), cache]));
  const sizes = await Promise.all(processes.map(async (child) => (await once(child, "message"))[0]));
  assert.deepEqual(sizes, Array(4).fill(right.length));
  assert.equal(readdirSync(cache).length, 1);
  assert.deepEqual((await open(cache)).bytes, right);
});
