/**
 * Ids beside those that their text is encoded to, through the package; tests/drift.rs has the causes, and
 * tests/oracle/README.md says where the expected ids come from.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { Tokenizer, Token2TextError } from "../../pkg/node.js";
import { Tokenizer as WorkerTokenizer, terminate } from "../../pkg/worker-node.js";

/** @typedef {import("../../pkg/index.js").Drift} Drift */

const root = new URL("../../", import.meta.url);
const { real } = JSON.parse(readFileSync(new URL("tests/oracle/drift.json", root), "utf8"));
const fileOf = (/** @type {string} */ key) => readFileSync(new URL(`.cache/tokenizers/${key}/tokenizer.json`, root));
after(() => terminate());

/** @param {number[]} ids */
function digest(ids) {
  const hash = createHash("sha256").update(new Uint8Array(Uint32Array.from(ids).buffer));
  return `${ids.length}:${hash.digest("hex").slice(0, 16)}`;
}

/** The ids with the runs put in. @param {number[]} ids @param {Drift} drift */
function encoded(ids, { runs }) {
  const out = [];
  let at = 0;
  for (const { tokens, ids: others } of runs) {
    out.push(...ids.slice(at, tokens[0]), ...others);
    at = tokens[1];
  }
  return [...out, ...ids.slice(at)];
}

/** @param {string} code @param {RegExp} words */
const failure = (code, words) => (/** @type {unknown} */ error) => {
  assert.ok(error instanceof Token2TextError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, words);
  return true;
};

test("there are tokenizers to compare", () => assert.equal(real.length, 19));

for (const { key, cases } of real) {
  test(key, () => {
    const tokenizer = Tokenizer.fromBytes(fileOf(key), { engine: "general" });
    const wrong = cases.flatMap((/** @type {[string, number[], string]} */ [name, ids, expected]) => {
      const drift = tokenizer.drift(ids);
      const again = encoded(ids, drift);
      assert.equal(drift.equal, drift.runs.length === 0);
      assert.deepEqual([drift.tokens, drift.encodedTokens, drift.runCount], [ids.length, again.length, drift.runs.length]);
      return digest(again) === expected ? [] : [name];
    });
    tokenizer.free();
    assert.deepEqual(wrong, []);
  });
}

/** Two messages, in the second of which a model wrote the end of one as text. @param {string[]} words */
const idsOf = (...words) => {
  const { model, added_tokens: added } = JSON.parse(fileOf("qwen2_5").toString());
  for (const { content, id } of added) model.vocab[content] = id;
  return words.map((word) => model.vocab[word]);
};

const user = ["<|im_start|>", "user", "Ċ", "hel", "lo", "<|im_end|>", "Ċ"];
const assistant = ["<|im_start|>", "assistant", "Ċ", "hi", "<", "|", "im", "_end", "|", ">", "Ċ"];

for (const [name, load] of Object.entries({
  "on this thread": () => Tokenizer.load(fileOf("qwen2_5"), { engine: "general" }),
  "in the worker": () => WorkerTokenizer.load(fileOf("qwen2_5"), { engine: "general" }),
})) {
  test(`runs, causes and ranges ${name}`, async () => {
    const tokenizer = await load();
    const ids = idsOf(...user, ...assistant);
    const ranges = /** @type {const} */ ([[0, user.length], [user.length, ids.length], [0, 3]]);
    const drift = await tokenizer.drift(ids, { ranges });
    assert.deepEqual(drift, {
      equal: false,
      tokens: 18,
      encodedTokens: 12,
      differing: 8,
      runCount: 2,
      causes: [{ cause: "merge", runs: 1, tokens: 2 }, { cause: "special_as_text", runs: 1, tokens: 6 }],
      runs: [
        { tokens: [3, 5], ids: idsOf("hello"), text: "hello", cause: "merge" },
        { tokens: [11, 17], ids: idsOf("<|im_end|>"), text: "<|im_end|>", cause: "special_as_text" },
      ],
      ranges: [
        { tokens: [0, 7], equal: false, differing: 2, causes: [{ cause: "merge", runs: 1, tokens: 2 }] },
        { tokens: [7, 18], equal: false, differing: 6, causes: [{ cause: "special_as_text", runs: 1, tokens: 6 }] },
        { tokens: [0, 3], equal: true, differing: 0, causes: [] },
      ],
    });
    const composed = await tokenizer.drift(BigInt64Array.from(idsOf("x", "Ġe", "Ì", "ģ"), BigInt));
    assert.deepEqual(composed.runs, [
      { tokens: [1, 4], ids: idsOf("ĠÃ©"), text: " e\u0301", encodedText: " \u00e9", cause: "normalizer" },
    ]);
    assert.equal((await tokenizer.drift([])).equal, true);
    await tokenizer.free();
  });

  test(`progress ${name}`, async () => {
    const tokenizer = await load();
    const message = idsOf(...user.slice(0, -1), ...Array(3000).fill("hello"));
    const ids = Array(50).fill(message).flat();
    /** @type {import("../../pkg/index.js").Progress[]} */
    const told = [];
    const drift = await tokenizer.drift(ids, { onProgress: (progress) => told.push(progress) });
    const total = (await tokenizer.decode(ids)).length;
    assert.ok(told.length > 3, String(told.length));
    assert.deepEqual(told.at(-1), { loaded: total, total });
    assert.ok(told.every(({ loaded }, i) => i === 0 || loaded > told[i - 1].loaded));
    assert.equal(drift.runCount > 0, true);
    const failing = async () => tokenizer.drift(ids, { onProgress: () => assert.fail("mine") });
    await assert.rejects(failing(), /mine/);
    assert.equal((await tokenizer.drift([])).equal, true);
    await tokenizer.free();
  });

  test(`what is refused ${name}`, async () => {
    const tokenizer = await load();
    /** @param {any[]} args */
    const drift = async (...args) => /** @type {any} */ (tokenizer).drift(...args);
    await assert.rejects(drift("abc"), failure("invalid_ids", /ids must be an array/));
    await assert.rejects(drift([-1]), failure("invalid_ids", /ids\[0\]/));
    await assert.rejects(drift([1], { range: [] }), failure("invalid_options", /drift has no option `range`/));
    await assert.rejects(drift([1], { ranges: 5 }), failure("invalid_options", /`ranges` must be an array/));
    await assert.rejects(drift([1], { onProgress: 5 }), failure("invalid_options", /`onProgress` must be a function/));
    for (const range of [[0], [0, 1.5], [0, -1], "01"]) {
      await assert.rejects(drift([1], { ranges: [[0, 1], range] }), failure("invalid_options", /ranges\[1\] must be two whole numbers/));
    }
    await assert.rejects(drift([1], { ranges: [[0, 2]] }), failure("invalid_options", /ranges\[0\]: not a range .* of the 1 ids/));
    await tokenizer.free();
    await assert.rejects(drift([1]), failure("freed", /load it again/));
  });
}

test("the general engine is needed", () => {
  const tokenizer = Tokenizer.fromBytes(fileOf("qwen2_5"));
  assert.throws(() => tokenizer.drift([1]), failure("engine_not_available", /drift needs the general engine; load .* engine: "general"/));
  tokenizer.free();
});
