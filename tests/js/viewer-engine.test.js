/** What the viewer's engine does without a browser: JSON to be read, lines of tokens, what is found, what is opened first. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Tokenizer } from "../../pkg/node.js";
import { engineModule } from "./support/engine.js";
import { byteLevel, jsonBytes } from "./support/tokenizers.js";

const { indentJson } = await engineModule("indent");
const { lineStarts, tokensOfText } = await engineModule("tokens");
const { finderOf } = await engineModule("pattern");
const { wholeLines } = await engineModule("sources");
const captures = new URL("../fixtures/captures/", import.meta.url);

test("indented JSON is what JSON.stringify makes of it", () => {
  const value = { a: { b: [], c: {}, d: [{ e: null }, "x"] }, "k\"ey": "line\n\"quoted\" \\ {[,:]}", é: true, f: [["a", "b"]] };
  assert.equal(indentJson(JSON.stringify(value)), JSON.stringify(value, null, 2));
  assert.equal(indentJson(JSON.stringify(value, null, 7)), JSON.stringify(value, null, 2));
});

test("numbers and names keep their text, and lists of them fill lines", () => {
  const numbers = ["12345678901234567890.10", "-0", "1e400", "1.0", "NaN", "-Infinity", "null"];
  const text = indentJson(`{"n":[${numbers}],"id":${"9".repeat(40)}}`);
  assert.equal(text, `{\n  "n": [\n    ${numbers.join(", ")}\n  ],\n  "id": ${"9".repeat(40)}\n}`);
  const long = indentJson(`[${Array.from({ length: 1000 }, (_, i) => i * 7919)}]`);
  assert.deepEqual(JSON.parse(long), Array.from({ length: 1000 }, (_, i) => i * 7919));
  const widths = long.split("\n").map((/** @type {string} */ line) => line.length);
  assert.ok(Math.max(...widths) <= 100);
  assert.ok(widths.length < 100);
});

test("what is no JSON comes out whole", () => {
  for (const text of ['{"a":', '["unclosed', "}}]", "", '{"a" "b"}']) assert.equal(indentJson(text).replaceAll(/\s/g, ""), text.replaceAll(/\s/g, ""), text);
});

test("recorded bodies keep every value", () => {
  let count = 0;
  for (const name of readdirSync(captures, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))) {
    for (const line of readFileSync(new URL(name, captures), "utf8").split("\n")) {
      const value = parsed(line);
      if (value === undefined) continue;
      assert.deepEqual(JSON.parse(indentJson(line)), value);
      count++;
    }
  }
  assert.ok(count > 100);
});

/** @param {string} line */
function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Where tokens end that have these texts. @param {string[]} parts */
const endsOf = (parts) => Uint32Array.from(parts.map((_, i) => parts.slice(0, i + 1).join("").length));
/** @param {string[]} parts */
const startsOf = (parts) => [...lineStarts(parts.join(""), endsOf(parts))];

test("a line of tokens ends behind a line feed, or when it is long", () => {
  assert.deepEqual(startsOf([]), []);
  assert.deepEqual(startsOf(["a", "b\n", "c", "\n", "\n\n", "d"]), [0, 2, 4, 5]);
  assert.deepEqual(startsOf(["a\nb", "c"]), [0, 1], "a token that goes on behind a line feed ends its line too");
  assert.deepEqual(startsOf(["a", "b\n"]), [0], "no empty line at the end");
  assert.deepEqual(startsOf(Array.from({ length: 200 }, () => "x")), [0, 80, 160]);
  assert.deepEqual(startsOf(["y".repeat(300), "z", "z".repeat(240), "z"]), [0, 1, 3]);
});

test("the parts of one character stay in one line", () => {
  const parts = Array.from({ length: 100 }, (_, i) => (i >= 78 && i < 83 ? "" : "x"));
  assert.deepEqual(startsOf(parts), [0, 83]);
});

test("characters are found in their tokens", async () => {
  const ends = endsOf(["ab", "", "c", "é", "", "", "d"]);
  assert.deepEqual(tokensOfText(ends, 0, 1), [0, 2]);
  assert.deepEqual(tokensOfText(ends, 1, 3), [0, 3]);
  assert.deepEqual(tokensOfText(ends, 3, 4), [3, 6], "with the tokens that hold the rest of the character");
  assert.deepEqual(tokensOfText(ends, 4, 5), [6, 7]);
  const tokenizer = await Tokenizer.load(jsonBytes(byteLevel()));
  const ids = [...Buffer.from("née 你好")];
  const { text, ends: real } = tokenizer.pieces(ids);
  for (const word of ["né", "你", "好", "e 你"]) {
    const at = text.indexOf(word);
    const [start, end] = tokensOfText(real, at, at + word.length);
    assert.equal(tokenizer.decode(ids.slice(start, end)), word);
  }
});

/** @param {object} query @param {string[]} parts */
function found(query, parts, ids = parts.map((_, i) => i)) {
  const find = finderOf({ matchCase: false, ...query });
  return [...find({ text: parts.join(""), ends: endsOf(parts), ids: Uint32Array.from(ids) })];
}

test("text, expressions and ids are found", () => {
  const parts = ["The", " cat", " sat.", " THE", " end"];
  assert.deepEqual(found({ kind: "text", text: "the" }, parts), [[0, 1], [3, 4]]);
  assert.deepEqual(found({ kind: "text", text: "the", matchCase: true }, parts), []);
  assert.deepEqual(found({ kind: "text", text: "t." }, parts), [[2, 3]], "signs are no expression");
  assert.deepEqual(found({ kind: "text", text: "[x]-{1}/\\" }, ["a[x]-{1}/\\"]), [[0, 1]]);
  assert.deepEqual(found({ kind: "regex", text: "c\\w+ s" }, parts), [[1, 3]]);
  assert.deepEqual(found({ kind: "regex", text: "x*" }, parts), [], "nothing is nowhere");
  assert.deepEqual(found({ kind: "regex", text: "^.$" }, ["😀"]), [[0, 1]], "a character is one");
  assert.deepEqual(found({ kind: "regex", text: "s\\-t" }, ["s-t"]), [[0, 1]], "escapes that mean nothing");
  assert.deepEqual(found({ kind: "ids", text: "[7, 7]" }, ["", "", "", ""], [7, 7, 7, 8]), [[0, 2], [1, 3]]);
  assert.deepEqual(found({ kind: "ids", text: "7 8" }, ["", "", "", ""], [7, 7, 7, 8]), [[2, 4]]);
});

test("what cannot be searched for is told in words", () => {
  for (const [kind, text, words] of [
    ["regex", "(", /no regular expression: Unterminated group/],
    ["text", "", /nothing to search for/],
    ["ids", "12 x", /"x" is no token id/],
    ["ids", "-1", /"-1" is no token id/],
    ["ids", "4294967296", /is no token id/],
    ["ids", " ", /no ids/],
  ]) {
    assert.throws(() => finderOf({ kind, text, matchCase: false }), (/** @type {any} */ error) => error.code === "invalid_pattern" && /** @type {RegExp} */ (words).test(error.message), String(text));
  }
});

test("JSON lines alone are opened before their end", () => {
  const first = (/** @type {string} */ text) => {
    const bytes = wholeLines(Buffer.from(text));
    return bytes && Buffer.from(bytes).toString();
  };
  assert.equal(first('{"a":1}\n{"b":2}\n{"c":'), '{"a":1}\n{"b":2}\n');
  assert.equal(first('{"a":1}\r\n{"b":'), '{"a":1}\r\n');
  assert.equal(first('{\n  "a": {\n  }\n}\n'), undefined, "an indented document");
  assert.equal(first('[{"a":1},\n{"b":2}]'), undefined, "a list");
  assert.equal(first('{"a":1}\n'), undefined, "one document");
  assert.equal(first("data: {}\n\n"), undefined, "an event stream");
});
