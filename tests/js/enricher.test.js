/** The face of Enricher and strip; what they decode is tested against the captures in Rust. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Enricher, Tokenizer, strip } from "../../pkg/node.js";
import { failure } from "./support/expect.js";
import { byteIds, byteLevel, jsonBytes } from "./support/tokenizers.js";

const tokenizer = Tokenizer.fromBytes(jsonBytes(byteLevel()));
const enricher = new Enricher(tokenizer);
const record = { name: "run", inputs: { prompt_ids: byteIds("Hi") }, output: { response_ids: byteIds("yes"), score: 1 } };
const text = (/** @type {Uint8Array} */ bytes) => new TextDecoder().decode(bytes);

test("enrichBody writes the text beside the ids, and strip takes it out again", () => {
  const before = jsonBytes(record);
  const { body, report } = enricher.enrichBody(before);
  const { output } = JSON.parse(text(body));
  assert.equal(output.prompt_text, "Hi");
  assert.equal(output.response_text, "yes");
  assert.equal(report.format, "record");
  assert.deepEqual(report.fields.map(({ kind, status, ids }) => [kind, status, ids]), [["prompt", "decoded", 2], ["response", "decoded", 3]]);
  assert.deepEqual(strip(body), before);
});

test("odd spellings pass through unchanged", () => {
  const before = `{"t": 1764423874123456789, "x": [1.0e5, NaN, -Infinity], "s": "\\ud800\\u00e9",  "output":{"response_ids":[72,105]}}\r\n`;
  const { body } = enricher.enrichBody(new TextEncoder().encode(before));
  assert.equal(text(body), before.replace('{"response_ids"', '{"response_text":"Hi","response_ids"'));
  assert.equal(text(strip(body)), before);
});

test("strip is told where a body comes from, as enrichBody is", () => {
  const before = new TextEncoder().encode(`unknown: x\n\ndata: ${JSON.stringify({ output_ids: byteIds("Hi") })}\n\n`);
  for (const origin of [{ url: new URL("file:///answers.sse?x") }, { contentType: "text/event-stream; charset=utf-8" }]) {
    const { body } = enricher.enrichBody(before, origin);
    assert.match(text(body), /"response_text": "Hi"/);
    assert.deepEqual(strip(body, origin), before);
    assert.throws(() => strip(body), failure("unknown_format", /./));
    assert.throws(() => strip(body, { ...origin, format: "record" }), failure("invalid_body", /./));
  }
  assert.throws(() => strip(before, /** @type {any} */ ({ uri: "x" })), failure("invalid_options", /uri/));
});

test("enrich gives a new object that shares what did not change", () => {
  const input = structuredClone(record);
  const { span, report } = enricher.enrich(input);
  assert.deepEqual(input, record);
  assert.deepEqual(span, JSON.parse(text(enricher.enrichBody(jsonBytes(record)).body)));
  assert.equal(span.inputs, input.inputs);
  assert.equal(report.fields.length, 2);
});

test("reports are plain objects", () => {
  const { report } = enricher.enrichBody(jsonBytes(record));
  assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
});

test("an ArrayBuffer is a body too, and only the bytes of a view", () => {
  const bytes = jsonBytes(record);
  const padded = new Uint8Array(bytes.length + 10);
  padded.set(bytes, 5);
  const expected = enricher.enrichBody(bytes).body;
  assert.deepEqual(enricher.enrichBody(/** @type {ArrayBuffer} */ (bytes.buffer)).body, expected);
  assert.deepEqual(enricher.enrichBody(padded.subarray(5, 5 + bytes.length)).body, expected);
});

test("the result is no view into WebAssembly memory", () => {
  const { body } = enricher.enrichBody(jsonBytes(record));
  const copy = body.slice();
  enricher.enrichBody(jsonBytes({ ...record, name: "another one, longer" }));
  assert.deepEqual(body, copy);
});

test("wrong bodies are named", () => {
  const Any = /** @type {any} */ (enricher);
  assert.throws(() => Any.enrichBody("{}"), failure("invalid_body", /TextEncoder/));
  for (const value of [null, undefined, 5, {}, []]) assert.throws(() => Any.enrichBody(value), failure("invalid_body", /Uint8Array/));
  for (const value of ["{}", 5, null, undefined]) assert.throws(() => Any.enrich(value), failure("invalid_body", /parsed record/));
  assert.throws(() => Any.enrich(jsonBytes(record)), failure("invalid_body", /enrichBody/));
  assert.throws(() => enricher.enrichBody(jsonBytes(record).subarray(0, 20)), failure("invalid_body", /./));
  assert.throws(() => strip(/** @type {any} */ ("{}")), failure("invalid_body", /TextEncoder/));
});

test("wrong tokenizers and options are named", () => {
  const New = (/** @type {any[]} */ ...args) => new Enricher(.../** @type {[any]} */ (args));
  for (const value of [undefined, null, "qwen", [tokenizer], 5]) {
    assert.throws(() => New(value), failure("invalid_options", /takes one Tokenizer/));
  }
  assert.throws(() => New({}), failure("invalid_options", /empty object/));
  assert.throws(() => New({ "*": "tokenizer.json" }), failure("invalid_options", /tokenizers\["\*"\] is "tokenizer\.json"/));
  assert.throws(() => New({ "*": Promise.resolve(tokenizer) }), failure("invalid_options", /class Promise.*await Tokenizer\.load/));
  for (const options of [null, 5, "auto", []]) assert.throws(() => New(tokenizer, options), failure("invalid_options", /must be an object/));
  assert.throws(() => New(tokenizer, { skipSpecial: true }), failure("invalid_options", /skipSpecial/));
  assert.throws(() => New(tokenizer, { existing: "overwrite" }), failure("invalid_options", /overwrite|existing/));
  assert.throws(() => New(tokenizer, { format: 5n }), failure("invalid_options", /JSON/));
  assert.throws(() => New(tokenizer, { layouts: ["no-such-layout"] }), failure("invalid_layout", /no-such-layout/));
  const freed = Tokenizer.fromBytes(jsonBytes(byteLevel()));
  freed.free();
  assert.throws(() => New(freed), failure("freed", /load it again/));
});

test("numbers that JSON has not are named", () => {
  for (const bodyBytes of [Infinity, NaN]) {
    assert.throws(() => new Enricher(tokenizer, { limits: { bodyBytes } }), failure("invalid_options", /`bodyBytes` is (Infinity|NaN)/));
  }
});

test("skipSpecialTokens and existing are followed", () => {
  const body = jsonBytes({ output: { response_text: "old", response_ids: [72, 257] } });
  const skipping = new Enricher(tokenizer, { skipSpecialTokens: true, existing: "replace" });
  assert.equal(JSON.parse(text(skipping.enrichBody(body).body)).output.response_text, "H");
  assert.equal(JSON.parse(text(enricher.enrichBody(body).body)).output.response_text, "old");
});

test("ids go and texts are cut on request", () => {
  const drop = new Enricher(tokenizer, { ids: "drop", maxTextChars: 2 });
  const input = structuredClone(record);
  const { span, report } = drop.enrich(input);
  assert.deepEqual(span, { name: "run", inputs: {}, output: { prompt_text: "Hi", response_text: "ye", response_ids: byteIds("yes"), score: 1 } });
  assert.deepEqual(input, record);
  assert.deepEqual(JSON.parse(text(drop.enrichBody(jsonBytes(record)).body)), span);
  const [prompt, response] = report.fields;
  assert.deepEqual([prompt.idsDropped, prompt.shortened, prompt.reason], [["/inputs/prompt_ids"], undefined, undefined]);
  assert.deepEqual([response.idsDropped, response.shortened, response.reason], [undefined, 3, "not_dropped"]);
  assert.deepEqual([report.totals.idsDropped, report.totals.shortened, report.totals.reasons], [2, 1, { not_dropped: 1 }]);
  assert.throws(() => new Enricher(tokenizer, { maxTextChars: -1 }), failure("invalid_options", /maxTextChars/));
});

test("the format is told by the content and by the origin", () => {
  const rule = (/** @type {any} */ body, /** @type {any} */ origin) => {
    const { report } = enricher.enrichBody(typeof body === "string" ? new TextEncoder().encode(body) : jsonBytes(body), origin);
    return [report.format, report.rule, ...report.warnings.map(({ code }) => code)];
  };
  const call = { op_name: "g", trace_id: "t", output: { token_ids: [72] } };
  assert.deepEqual(rule(call, undefined), ["weave", "Weave calls/stream_query"]);
  assert.deepEqual(rule(call, { url: new URL("http://h/api/bulk_log") }), ["weave", "Weave calls/stream_query", "ambiguous_format"]);
  assert.deepEqual(rule({}, { url: "/api/bulk_log", contentType: null }), ["trackio", "URL"]);
  assert.deepEqual(rule("x\n\ndata: {}\n\n", { contentType: "text/event-stream" }), ["sse", "content type"]);
  assert.throws(() => rule({}, { type: "x" }), failure("invalid_options", /contentType/));
  assert.equal(enricher.enrich(call).report.format, "weave");
  const format = /** @type {const} */ ("record");
  assert.equal(new Enricher(tokenizer, { format }).enrich(call).report.format, "record");
});

test("tokenizers are chosen by the model's name", () => {
  const upper = byteLevel();
  upper.model.vocab = Object.fromEntries(Object.entries(upper.model.vocab).map(([token, id]) => [token, id === 104 ? 72 : id === 72 ? 104 : id]));
  const other = Tokenizer.fromBytes(jsonBytes(upper));
  const both = new Enricher({ "Qwen/*": other, "*": tokenizer });
  const decode = (/** @type {string} */ model) => {
    const { span, report } = both.enrich({ model, output: /** @type {any} */ ({ response_ids: [72] }) });
    return [span.output.response_text, report.fields[0].tokenizer];
  };
  assert.deepEqual(decode("Qwen/Qwen3-8B"), ["h", "Qwen/*"]);
  assert.deepEqual(decode("meta/llama"), ["H", "*"]);
});

test("an enricher outlives its tokenizer, but not its own free", () => {
  const short = Tokenizer.fromBytes(jsonBytes(byteLevel()));
  const long = new Enricher(short);
  short.free();
  assert.equal(/** @type {any} */ (long.enrich(record).span.output).response_text, "yes");
  long.free();
  long[Symbol.dispose]();
  assert.throws(() => long.enrich(record), failure("freed", /make a new one/));
  assert.throws(() => long.enrichBody(jsonBytes(record)), failure("freed", /make a new one/));
});
