import assert from "node:assert/strict";
import { test } from "node:test";
import { cut, isPlain, nameOf, plain } from "./safe-text.js";

const source = (text: string, options = {}) => cut(text, options).map((run) => ("source" in run ? run.source : run.text)).join("");
const chips = (text: string) => cut(text).filter((run) => run.kind === "chip").map((run) => run.text);

test("text without hidden characters is one run", () => {
  assert.deepEqual(cut("const a = 1;\n\tif (a) {}\n日本語 👍🏽 العربية"), [{ kind: "text", text: "const a = 1;\n\tif (a) {}\n日本語 👍🏽 العربية" }]);
  assert.deepEqual(cut(""), []);
});

test("what is plain would not be cut", () => {
  for (const marks of ["none", "lines", "all"] as const) {
    for (let point = 0; point < 0x3000; point++) {
      const text = String.fromCodePoint(point);
      if (isPlain(text, { marks })) assert.deepEqual(cut(text, { marks }), [{ kind: "text", text }]);
    }
    assert.ok(isPlain("const", { marks }));
    assert.ok(!isPlain("a\u202eb", { marks }) && !isPlain("a\n", { marks }) && !isPlain("", { marks }));
  }
  assert.ok(isPlain(" a b", { marks: "lines" }) && !isPlain(" a b", { marks: "all" }));
});

test("every character that moves or hides is named", () => {
  const hidden = [0, 7, 0xb, 0xd, 0x1b, 0x7f, 0x85, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x2060, 0x2064, 0x3164,
    0xfe0f, 0xfeff, 0xfffd, 0xfff9, 0xd800, 0xdfff, 0xe0001, 0xe0100, 0x1d173];
  for (let point = 0x202a; point <= 0x202e; point++) hidden.push(point);
  for (let point = 0x2066; point <= 0x206f; point++) hidden.push(point);
  for (const point of hidden) {
    const text = `a${String.fromCodePoint(point)}b`;
    assert.deepEqual(chips(text), [nameOf(point)], point.toString(16));
    assert.equal(source(text), text);
    assert.deepEqual(cut(text).filter((run) => run.kind === "text").map((run) => run.text), ["a", "b"]);
  }
  assert.deepEqual(chips("a\u202eb\u2066c\ufe0fd\udc00e"), ["RLO", "LRI", "VS16", "U+DC00"]);
});

test("signs around Arabic numbers are drawn, so they stay", () => assert.deepEqual(chips("\u0600 \u06dd"), []));

test("hidden characters that follow one another are few chips", () => {
  assert.deepEqual(chips("\0".repeat(5000)), ["NUL ×5000"]);
  assert.deepEqual(chips("\u200d\ufe0f"), ["ZWJ", "VS16"]);
  // In an emoji and in a word they belong to what is seen; behind a letter that they do not change they hide.
  for (const whole of ["👩\u200d💻", "☔\ufe0f", "👩🏽\u200d🚀", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "क्\u200dष"]) assert.deepEqual(chips(whole), []);
  assert.deepEqual(chips("pay\u200dpal\u200c 👩\u200d x"), ["ZWJ", "ZWNJ", "ZWJ"]);
  assert.deepEqual(chips("\u200b\u200c\u200d\u2060"), ["4 hidden"]);
  const tags = Array.from("hi you", (character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0))).join("");
  assert.deepEqual(chips(`👍${tags}`), ['TAG "hi you"']);
});

test("the number of chips is bounded, and nothing is lost to sight", () => {
  const runs = cut("a\0".repeat(10000), { chips: 50 });
  assert.equal(runs.filter((run) => run.kind === "chip").length, 50);
  assert.ok(runs.length <= 101);
  assert.equal(runs.at(-1)!.text.match(/‹NUL›/g)?.length, 10000 - 50);
});

test("what may deceive is loud", () => {
  const loud = (text: string) => cut(text).map((run) => run.kind === "chip" && run.isLoud);
  assert.deepEqual(["\u202e", "\u2067", "\u{e0041}", "\0", "\u200d", "\ufe0f", "\ufffd"].map((text) => loud(text)[0]), [true, true, true, true, false, false, false]);
});

test("white space is marked on demand", () => {
  assert.deepEqual(cut("a  b\t\n", { marks: "all" }).map((run) => run.text), ["a", "··", "b", "⇥", "⏎"]);
  assert.deepEqual(cut("a b\n", { marks: "lines" }).map((run) => run.text), ["a b", "⏎"]);
  assert.equal(source("a  b\t\n\0 c", { marks: "all" }), "a  b\t\n\0 c");
});

test("a label is one line", () => {
  assert.equal(plain("a\nb\u202ec", 50), "a⏎b‹RLO›c");
  assert.equal(plain(" a\n\n", 50, "all"), "·a⏎⏎");
  assert.equal(plain("abcdef", 3), "abc…");
});
