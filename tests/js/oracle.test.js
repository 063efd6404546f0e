// Every text must be what Python `tokenizers` gives, through the package. tests/oracle/README.md says
// where the expected texts come from; tests/oracle.rs is the same test of the native crate.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Tokenizer } from "../../pkg/node.js";

const BLOCK = 1000;
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

/** Compares and throws with the first ids and both texts around the place where they part. */
function check(tokenizer, ids, skipSpecialTokens, expected, where) {
  const got = tokenizer.decode(Uint32Array.from(ids), { skipSpecialTokens });
  if (got === expected) return;
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  let id = 0;
  while (id < ids.length && tokenizer.decode(Uint32Array.from(ids.slice(0, id + 1)), { skipSpecialTokens }).length <= at) id++;
  const near = (text) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 40));
  assert.fail(
    `${where}: skipSpecialTokens=${skipSpecialTokens}, ${ids.length} ids, texts part at ${at}, near id number ${id}\n` +
      `     ids: ${ids.slice(Math.max(0, id - 6), id + 6)}\nexpected: ${near(expected)}\n     got: ${near(got)}`,
  );
}

/** The numbers of the generator. */
function lcg(state) {
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state * n) / 4294967296);
  };
}

function sweepLists(name, count) {
  const ids = Array.from({ length: count }, (_, id) => id);
  const second = lcg(1);
  const random = lcg(2);
  switch (name) {
    case "single":
      return [BLOCK, ids.map((id) => [id])];
    case "pair":
      return [BLOCK, ids.map((id) => [id, second(count)])];
    case "run":
      return [BLOCK / 10, Array.from({ length: Math.ceil(count / 10) }, (_, n) => ids.slice(n * 10, n * 10 + 10))];
    case "random":
      return [BLOCK / 50, Array.from({ length: 400 }, () => Array.from({ length: 50 }, () => random(count)))];
    default:
      throw new Error(`unknown sweep ${name}`);
  }
}

function digest(texts) {
  const hash = createHash("sha256");
  for (const text of texts) {
    const data = Buffer.from(text, "utf8");
    const length = Buffer.alloc(4);
    length.writeUInt32LE(data.length);
    hash.update(Buffer.concat([length, data]));
  }
  return hash.digest("hex").slice(0, 16);
}

const manifest = json("tests/oracle/tokenizers.json").tokenizers;
assert.equal(manifest.length, 19);
let total = 0;

for (const { key } of manifest) {
  test(`${key} decodes as the reference does`, () => {
    const expected = json(`tests/oracle/expected/${key}.json`);
    const tokenizer = Tokenizer.fromBytes(tokenizerFile(key, "tokenizer.json"));
    let texts = 0;
    for (const { name, ids, text, skipped = text } of expected.cases) {
      check(tokenizer, ids, false, text, `${key}, case ${name}`);
      check(tokenizer, ids, true, skipped, `${key}, case ${name}`);
      texts += 2;
    }
    for (const sweep of expected.sweeps) {
      const [perBlock, lists] = sweepLists(sweep.name, expected.max_id + 1 + 24);
      for (const [skipSpecialTokens, digests] of [[false, sweep.kept], [true, sweep.skipped]]) {
        assert.equal(digests.length, Math.ceil(lists.length / perBlock) * 16);
        for (let start = 0, at = 0; start < lists.length; start += perBlock, at += 16) {
          const block = lists.slice(start, start + perBlock);
          const got = digest(block.map((ids) => tokenizer.decode(Uint32Array.from(ids), { skipSpecialTokens })));
          if (got !== digests.slice(at, at + 16)) {
            const { name } = sweep;
            assert.fail(
              `${key}, sweep ${name}, block ${at / 16} (lists ${start} to ${start + block.length - 1}, ` +
                `skipSpecialTokens=${skipSpecialTokens}); \`cargo test --test oracle ${key}\` finds the ids`,
            );
          }
          texts += block.length;
        }
      }
    }
    tokenizer.free();
    total += texts;
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
