/** Recorded bodies of OTLP and MLflow through the package and the command; the texts in them are tested in Rust. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Enricher, Tokenizer, strip } from "../../pkg/node.js";
import { token2text } from "./support/cli.js";

const WIRE = new URL("../fixtures/wire/", import.meta.url);
const TOKENIZERS = new URL("../../.cache/tokenizers/", import.meta.url);
/** What a body of each kind in the captures is told as. */
const TOLD = { "otlp-proto": "otlp-proto", "otlp-json": "otlp-json", "mlflow-spans": "mlflow", "mlflow-trace": "mlflow", json: "mlflow" };

const tokenizerPath = (/** @type {string} */ key) => new URL(`${key}/tokenizer.json`, TOKENIZERS);
/** @type {Map<string, Enricher>} */
const enrichers = new Map();
function enricherFor(/** @type {string} */ key) {
  const enricher = enrichers.get(key) ?? new Enricher(Tokenizer.fromBytes(readFileSync(tokenizerPath(key))));
  enrichers.set(key, enricher);
  return enricher;
}

/** What a parsed body is enriched to is what its bytes are. @param {Enricher} enricher @param {Uint8Array} before @param {Uint8Array} after @param {import("../../pkg/report.js").Report} report */
function compareWithObject(enricher, before, after, report) {
  // JSON.parse refuses what Python writes.
  const parse = (/** @type {Uint8Array} */ body) =>
    JSON.parse(new TextDecoder().decode(body).replace(/(?<=[:,[]\s*)(NaN|-?Infinity)(?=\s*[,\]}])/g, "null"));
  const input = parse(before);
  const { span, report: ofObject } = enricher.enrich(input);
  assert.equal(JSON.stringify(span), JSON.stringify(parse(after)));
  assert.deepEqual(input, parse(before));
  // To JavaScript 5.0 is 5.
  const fields = report.fields.map(({ converted, ...field }) => (converted && converted !== "integral_floats" ? { ...field, converted } : field));
  assert.deepEqual({ ...ofObject, rule: report.rule }, { ...report, fields });
  objects++;
}

let decoded = 0;
let objects = 0;
for (const place of ["otlp", "mlflow"].flatMap((kind) => readdirSync(new URL(kind, WIRE)).map((name) => `${kind}/${name}/`))) {
  test(place, () => {
    const folder = new URL(place, WIRE);
    const meta = JSON.parse(readFileSync(new URL("meta.json", folder), "utf8"));
    for (const { file, format } of /** @type {{ file: string, format: keyof typeof TOLD }[]} */ (meta.files)) {
      const before = readFileSync(new URL(file, folder));
      const { body, report } = enricherFor(meta.tokenizer[0]).enrichBody(before);
      assert.equal(report.format, TOLD[format], file);
      decoded += report.totals.decoded;
      if (report.format !== "otlp-proto") compareWithObject(enricherFor(meta.tokenizer[0]), before, body, report);
      // In these traces a value stands where a text goes, and the text takes its place.
      if (!place.includes("edge")) assert.deepEqual(Buffer.from(strip(body)), before, file);
    }
  });
}

test("the bodies held ids", () => {
  assert.ok(decoded > 150, `${decoded} texts`);
  assert.ok(objects > 12, `${objects} bodies as objects`);
});

test("the command reads protocol buffers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "token2text-"));
  try {
    const before = readFileSync(new URL("otlp/js-proto-qwen3/02-v1-traces.pb", WIRE));
    writeFileSync(join(folder, "traces.pb"), before);
    const tokenizer = tokenizerPath("qwen3").pathname;
    const enriched = await token2text(["enrich", "-t", tokenizer, "traces.pb", "-o", "text.pb"], { cwd: folder });
    assert.equal(enriched.status, 0, enriched.stderr);
    assert.ok(readFileSync(join(folder, "text.pb")).length > before.length);
    const stripped = await token2text(["strip", "text.pb"], { cwd: folder });
    assert.deepEqual(Buffer.from(stripped.stdout), before);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
