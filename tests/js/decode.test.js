// The ways to a text, by strings of tokens, in ASCII, in UTF-16 and in UTF-8, give the same.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { slim } from "../../pkg/engines.js";
import { Tokenizer } from "../../pkg/node.js";
import { failure } from "./support/expect.js";
import { SPECIAL, byteIds, byteLevel, jsonBytes } from "./support/tokenizers.js";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const make = () => Tokenizer.fromBytes(jsonBytes(byteLevel()));
/** Past the end of ASCII and of two bytes, a pair of surrogates, and what looks like a mark of byte order. */
const TEXTS = ["", "a", "plain", "x".repeat(100), "é", "\ufeffx", "\ufffe", "日本語", "a🙂z", `${"x".repeat(300)}é${"y".repeat(300)}`];

/** @param {Tokenizer} tokenizer @param {number[]} ids @param {boolean} skipSpecialTokens */
function check(tokenizer, ids, skipSpecialTokens) {
  const options = { skipSpecialTokens };
  const expected = utf8.decode(tokenizer.decodeBytes(ids, options));
  const first = tokenizer.decode(ids, options);
  // A second time, with what was kept of the first.
  const second = tokenizer.decode(Uint32Array.from(ids), options);
  if (first !== expected || second !== expected) {
    assert.fail(`${JSON.stringify([first, second])} in place of ${JSON.stringify(expected)}: ${ids}, ${skipSpecialTokens}`);
  }
}

for (const key of ["gpt2", "qwen2_5", "llama2", "gemma3", "minilm", "e5_multilingual", "deepseek_v3"]) {
  test(`${key}: every id alone, in a short run and in a long one`, () => {
    const tokenizer = Tokenizer.fromBytes(readFileSync(new URL(`../../.cache/tokenizers/${key}/tokenizer.json`, import.meta.url)));
    const count = tokenizer.info.vocabSize + 20;
    let state = 1;
    const random = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state * count) / 4294967296);
    };
    for (const skip of [false, true]) {
      for (let id = 0; id < count; id++) {
        check(tokenizer, [id], skip);
        check(tokenizer, [id, random()], skip);
        if (id % 8 === 0) check(tokenizer, Array.from({ length: 5 }, random), skip);
        if (id % 64 === 0) check(tokenizer, Array.from({ length: 100 }, random), skip);
      }
    }
    tokenizer.free();
  });
}

test("what was learnt of short runs makes nothing an id that is none", () => {
  const tokenizer = make();
  for (let i = 0; i < 2; i++) assert.equal(tokenizer.decode([72, 105]), "Hi");
  /** @type {any[]} */
  const wrong = [["72"], [72, "105"], [72.5], [-72], [true], [[72]], [72n], [null], [72 + 2 ** 32], ["length"], new Float64Array([72]), { length: 1, 0: 72 }];
  for (const ids of wrong) assert.throws(() => tokenizer.decode(ids), failure("invalid_ids", /./));
  assert.equal(tokenizer.decode(BigInt64Array.of(72n, 105n)), "Hi");
  assert.equal(tokenizer.decode([72, SPECIAL.id]), "H<|end|>");
  assert.equal(tokenizer.decode([72, SPECIAL.id], { skipSpecialTokens: true }), "H");
  assert.equal(tokenizer.decode([72, SPECIAL.id]), "H<|end|>");
  tokenizer.free();
  assert.throws(() => tokenizer.decode([72, 105]), failure("freed", /was freed/));
});

test("cut characters are put together, or not, as in one text", () => {
  const tokenizer = make();
  const bytes = byteIds("é日🙂");
  for (let i = 0; i < 2; i++) {
    for (let start = 0; start < bytes.length; start++) {
      for (let end = start; end <= bytes.length; end++) {
        for (const between of [[], [72], [299], [SPECIAL.id]]) {
          const ids = [...bytes.slice(0, start), ...between, ...bytes.slice(start, end), ...between];
          for (const skip of [false, true]) check(tokenizer, ids, skip);
        }
      }
    }
  }
});

test("memory that has grown between two calls is looked at anew", () => {
  const tokenizer = make();
  for (const text of TEXTS) {
    slim().memory.grow(1);
    assert.equal(tokenizer.decode(byteIds(text)), text);
    slim().memory.grow(1);
    assert.equal(utf8.decode(tokenizer.decodeBytes(byteIds(text))), text);
  }
});

test("too many ids are refused before memory is taken", () => {
  const before = slim().memory.buffer.byteLength;
  assert.throws(() => make().decode(new Uint8Array((64 << 20) + 1)), failure("limit_exceeded", /at most 67108864 ids/));
  assert.equal(slim().memory.buffer.byteLength, before);
});

test("without what only Node has, as in browsers, texts are the same", () => {
  const main = new URL("../../pkg/node.js", import.meta.url).href;
  // Of every number of ids that may be put together there, and some more.
  const texts = [...TEXTS, ...Array.from({ length: 20 }, (_, count) => "abcdefghijklmnopqrst".slice(0, count))];
  const script = `
    delete Buffer.prototype.ucs2Slice;
    const { Tokenizer } = await import(${JSON.stringify(main)});
    const tokenizer = Tokenizer.fromBytes(new TextEncoder().encode(${JSON.stringify(JSON.stringify(byteLevel()))}));
    const texts = ${JSON.stringify(texts.map(byteIds))}.map((ids) => (tokenizer.decode(ids), tokenizer.decode(Uint32Array.from(ids))));
    process.stdout.write(JSON.stringify(texts));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  assert.deepEqual(JSON.parse(output), texts);
  const tokenizer = make();
  for (const text of [...texts, ...texts]) assert.equal(tokenizer.decode(byteIds(text)), text);
});
