// Whether a file is UTF-8 is checked sixteen bytes at a time in WebAssembly (src/tokenizer/utf8.rs): wherever bytes stand, it says what
// TextDecoder says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Tokenizer } from "../../pkg/node.js";
import { byteLevel, jsonBytes } from "./support/tokenizers.js";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const file = byteLevel();
file.model.vocab["~here~"] = 1000;
/** Before and behind a token of it. */
const [before, behind] = Buffer.from(jsonBytes(file)).toString("latin1").split("~here~").map((part) => Buffer.from(part, "latin1"));

/** Characters of one to four bytes, the first and the last of each length, and what is none. @type {number[][]} */
const PARTS = [
  ...["a", "\u{7f}", "\u{80}", "\u{7ff}", "\u{800}", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}", "\u{10ffff}", "世", "🍂"].map((text) => [...Buffer.from(text)]),
  [0x80],
  [0xbf],
  [0xc0, 0x80],
  [0xc1, 0xbf],
  [0xc2],
  [0xe0, 0x9f, 0xbf],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xed, 0xbf, 0xbf],
  [0xf0, 0x8f, 0xbf, 0xbf],
  [0xf0, 0x9f, 0x8d],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xff],
];

/** @param {Buffer} bytes */
function isUtf8(bytes) {
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** @param {Buffer} bytes */
function loads(bytes) {
  try {
    Tokenizer.fromBytes(bytes).free();
    return true;
  } catch (error) {
    assert.equal(/** @type {{ code?: string }} */ (error).code, "invalid_tokenizer");
    return false;
  }
}

test("each character and each mistake, at every place of three blocks, alone and behind another", () => {
  const counts = { valid: 0, invalid: 0 };
  for (const first of PARTS) {
    for (const second of [[], [0x61], [0xc2, 0x80], [0xbf], [0xf0, 0x9f, 0x8d, 0x82]]) {
      for (let at = 0; at < 48; at++) {
        const bytes = Buffer.concat([before, Buffer.alloc(at, "x"), Buffer.from([...first, ...second]), behind]);
        const expected = isUtf8(bytes);
        counts[expected ? "valid" : "invalid"]++;
        assert.equal(loads(bytes), expected, `${Buffer.from([...first, ...second]).toString("hex")} behind ${at}`);
      }
    }
  }
  assert.ok(counts.valid > 2000 && counts.invalid > 3000, JSON.stringify(counts));
});
