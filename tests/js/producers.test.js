/** A body of every producer through the package, as bytes and as a parsed record; and the tables of README.md. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Enricher, Tokenizer } from "../../pkg/node.js";

const PRODUCERS = new URL("../fixtures/producers/", import.meta.url);
const TOKENIZERS = new URL("../../.cache/tokenizers/", import.meta.url);

const enricher = new Enricher(Tokenizer.fromBytes(readFileSync(new URL("qwen3/tokenizer.json", TOKENIZERS))));

/** @param {any} value @param {string} path */
const at = (value, path) => path.split("/").slice(1).reduce((inner, key) => inner?.[key], value);

for (const file of readdirSync(PRODUCERS)) {
  test(file, () => {
    const { body, fields } = JSON.parse(readFileSync(new URL(file, PRODUCERS), "utf8"));
    const fromBytes = enricher.enrichBody(new TextEncoder().encode(JSON.stringify(body)));
    const fromObject = enricher.enrich(body);
    assert.deepEqual(fromObject.span, JSON.parse(new TextDecoder().decode(fromBytes.body)));
    assert.deepEqual(fromObject.report.fields, fromBytes.report.fields);
    for (const { text_path, text } of fields) assert.deepEqual(at(fromObject.span, text_path), text);
    assert.equal(fromObject.report.fields.length, fields.length);
  });
}

for (const name of ["producers", "formats"]) {
  test(`the table of ${name} in README.md is that of the data`, () => {
    const script = fileURLToPath(new URL(`../../scripts/${name}.js`, import.meta.url));
    const { status, stderr } = spawnSync("node", [script, "--check"], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
  });
}
