import assert from "node:assert/strict";
import { test } from "node:test";
import { isWholeValue, splitLines } from "../../pkg/cli/lines.js";

/** @param {string[]} chunks @param {number} [limit] */
async function split(chunks, limit = 1000) {
  const lines = [];
  for await (const batch of splitLines(stream(chunks), limit)) lines.push(...batch);
  return lines.map(({ content, ending, oversize }) => [content.toString(), ending.toString(), ...(oversize ? ["oversize"] : [])]);
}

/** @param {string[]} chunks */
async function* stream(chunks) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

test("lines are the same wherever the chunks end", async () => {
  const text = "a\nbb\r\n\n\r\nccc\rc\nlast";
  const expected = [["a", "\n"], ["bb", "\r\n"], ["", "\n"], ["", "\r\n"], ["ccc\rc", "\n"], ["last", ""]];
  for (let i = 0; i <= text.length; i++) assert.deepEqual(await split([text.slice(0, i), text.slice(i)]), expected);
  assert.deepEqual(await split([...text]), expected);
});

test("nothing in, nothing out", async () => {
  assert.deepEqual(await split([]), []);
  assert.deepEqual(await split([""]), []);
});

test("a line over the limit comes in parts that are marked", async () => {
  const lines = await split(["ok\n", "01234567", "89abcdef", "gh\nnext\n"], 10);
  assert.deepEqual(lines, [["ok", "\n"], ["01234567", "", "oversize"], ["89abcdef", "", "oversize"], ["gh", "\n", "oversize"], ["next", "\n"]]);
});

test("a whole value is one bracket pair from end to end", () => {
  for (const text of ["{}", " [1, 2] ", '{"a": "}\\"{"}', '{"x": NaN}', "\ufeff{}", "{]"]) assert.ok(isWholeValue(Buffer.from(text)), text);
  for (const text of ["", "{", '{"a": "}', "[1, 2", "{} {}", "{}{}", "word", "5", '"text"', "]"]) assert.ok(!isWholeValue(Buffer.from(text)), text);
});
