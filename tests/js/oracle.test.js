// Every text must be what Python `tokenizers` gives, through the package. tests/oracle/README.md says
// where the expected texts come from; tests/oracle.rs is the same test of the native crate, oracle-page.test.js that in Chromium.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Tokenizer } from "../../pkg/node.js";
import { check, checkReal } from "./support/oracle.js";

const root = new URL("../../", import.meta.url);
const json = (path) => JSON.parse(readFileSync(new URL(path, root), "utf8"));

function tokenizerFile(key, name) {
  const path = `.cache/tokenizers/${key}/${name}`;
  try {
    return readFileSync(new URL(path, root));
  } catch (error) {
    throw new Error(`${path}: ${error.code}. Run \`make fetch-tokenizers\` first.`);
  }
}

const manifest = json("tests/oracle/tokenizers.json").tokenizers;
assert.equal(manifest.length, 19);
let total = 0;

const sha256 = (/** @type {Uint8Array} */ bytes) => createHash("sha256").update(bytes).digest("hex");

for (const { key } of manifest) {
  test(`${key} decodes as the reference does`, async () => {
    const tokenizer = Tokenizer.fromBytes(tokenizerFile(key, "tokenizer.json"));
    total += await checkReal(tokenizer, key, json(`tests/oracle/expected/${key}.json`), sha256);
    tokenizer.free();
  });
}

test("no text was passed over", () => assert.equal(total, 10_472_582));

test("hand-made tokenizers decode as the reference does", () => {
  const { items } = json("tests/oracle/handmade.json");
  const failures = [];
  let texts = 0;
  let refused = 0;
  let differing = 0;
  for (const item of items) {
    const file = item.hex ? Buffer.from(item.hex, "hex") : Buffer.from(item.raw ?? JSON.stringify(item.tokenizer));
    try {
      if (item.load_error) {
        refused++;
        assert.throws(() => Tokenizer.fromBytes(file), { code: "invalid_tokenizer" });
      } else {
        const tokenizer = Tokenizer.fromBytes(file);
        for (const { ids, skip, text } of item.cases) {
          // Where the reference panics we must give text, and none for a token alone.
          if (text !== undefined) check(tokenizer, ids, skip, text, item.name);
          else if (ids.length < 2) check(tokenizer, ids, skip, "", item.name);
          else tokenizer.decode(Uint32Array.from(ids), { skipSpecialTokens: skip });
        }
        texts += item.cases.length;
        tokenizer.free();
      }
      if (item.differs) failures.push(`${item.name}: no longer differs, remove the note`);
    } catch (error) {
      if (item.differs) differing++;
      else failures.push(`${item.name}: ${error.message}`);
    }
  }
  assert.deepEqual(failures, []);
  assert.deepEqual(
    { items: items.length, refused, differing, texts },
    { items: 358, refused: 111, differing: 19, texts: 4100 },
  );
});

for (const [compat, tokenizers] of [["transformers4", 288], ["transformers5", 301]]) {
  test(`compat ${compat} decodes as that version does`, () => {
    const { handmade, real } = json(`tests/oracle/compat/${compat}.json`);
    let checked = 0;
    for (const { name, tokenizer: file, config, cases } of handmade) {
      if (!cases) continue;
      const tokenizer = Tokenizer.fromBytes(Buffer.from(JSON.stringify(file)), { compat, config: config ?? undefined });
      for (const { ids, text, skipped } of cases) {
        check(tokenizer, ids, false, text, name);
        check(tokenizer, ids, true, skipped, name);
      }
      tokenizer.free();
      checked++;
    }
    for (const { key, other_texts: others } of real) {
      const { files } = manifest.find((entry) => entry.key === key);
      const config = files["tokenizer_config.json"] && tokenizerFile(key, "tokenizer_config.json");
      const tokenizer = Tokenizer.fromBytes(tokenizerFile(key, "tokenizer.json"), { compat, config });
      for (const { name, ids, text, skipped = text } of json(`tests/oracle/expected/${key}.json`).cases) {
        const other = others.find((other) => other.name === name) ?? { text, skipped };
        check(tokenizer, ids, false, other.text, `${key}, case ${name}`);
        check(tokenizer, ids, true, other.skipped, `${key}, case ${name}`);
      }
      tokenizer.free();
      checked++;
    }
    assert.equal(checked, tokenizers);
  });
}
