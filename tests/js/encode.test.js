/**
 * Every list of ids must be what Python `tokenizers` gives a text, through the package; tests/encode.rs is the same test of
 * the native crate, and tests/oracle/README.md says where the expected ids come from.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Tokenizer } from "../../pkg/node.js";

const root = new URL("../../", import.meta.url);
const { corpus, texts, real } = JSON.parse(readFileSync(new URL("tests/oracle/encode.json", root), "utf8"));

/** A text of the file: a string, or a string, how often it stands, and what comes behind. @param {string | [string, number, string]} value */
const textOf = (value) => (typeof value === "string" ? value : value[0].repeat(value[1]) + value[2]);
const shared = [...corpus, ...texts].map(textOf);

/** @param {Uint32Array} ids */
function digest(ids) {
  const hash = createHash("sha256").update(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength));
  return `${ids.length}:${hash.digest("hex").slice(0, 16)}`;
}

test("there are tokenizers to compare", () => assert.equal(real.length, 19));

for (const { key, own, ids } of real) {
  test(key, () => {
    const tokenizer = Tokenizer.fromBytes(readFileSync(new URL(`.cache/tokenizers/${key}/tokenizer.json`, root)), { engine: "general" });
    const all = [...shared, ...own.map(textOf)];
    assert.equal(ids.length, all.length);
    const wrong = all.flatMap((text, i) => {
      const [without, special = without] = ids[i].split(" ");
      const got = [tokenizer.encode(text, { addSpecialTokens: false }), tokenizer.encode(text)].map(digest);
      return got[0] === without && got[1] === special ? [] : [[text.slice(0, 60), got, ids[i]]];
    });
    tokenizer.free();
    assert.deepEqual(wrong, []);
  });
}
