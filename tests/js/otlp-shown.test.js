/** What an exporter for OTLP adds to the copy that it sends: what backends show, and what spans ran on. tests/phoenix has it with Phoenix. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Enricher, Tokenizer, write } from "../../pkg/node.js";
import { readAttributes } from "../../pkg/exporters/mlflow-spans.js";
import { toProtobuf } from "../../pkg/exporters/otlp-json.js";
import { joinSpans, splitSpans } from "../../pkg/exporters/otlp-request.js";
import { withResource } from "../../pkg/exporters/otlp-resource.js";
import { shownAs } from "../../pkg/exporters/otlp-shown.js";
import { bytesField, concat, fields, textField } from "../../pkg/exporters/wire.js";
import { byteIds, byteLevel, jsonBytes } from "./support/tokenizers.js";

const NAMES = ["input.value", "input.mime_type", "output.value", "output.mime_type", "openinference.span.kind"];
const LANGSMITH = ["gen_ai.prompt", "gen_ai.completion", "langsmith.span.kind"];
const enricher = new Enricher(Tokenizer.fromBytes(jsonBytes(byteLevel())));
const ids = (/** @type {string} */ text) => byteIds(text);
const json = JSON.stringify;

/** A value of OTLP in JSON: of a text, a list of ids, or an object. @param {unknown} value @returns {object} */
function valueOf(value) {
  if (typeof value === "number") return { intValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(valueOf) } };
  return typeof value === "string" ? { stringValue: value } : { kvlistValue: { values: pairs(/** @type {object} */ (value)) } };
}

/** @param {object} attributes */
function pairs(attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

/** @param {{ span: string, parent?: string, attributes: object }[]} spans */
function request(...spans) {
  const messages = spans.map(({ span, parent, attributes }) => ({ traceId: "1".repeat(32), spanId: span, parentSpanId: parent, attributes: pairs(attributes) }));
  return toProtobuf(new TextEncoder().encode(json({ resourceSpans: [{ scopeSpans: [{ spans: messages }] }] })));
}

/** What is added to an enriched span of attributes. @param {Record<string, any>} attributes @param {"openinference" | "langsmith"} [convention] */
function added(attributes, convention = "openinference") {
  const body = enricher.enrichBody(request({ span: "0102030405060708", attributes })).body;
  const [span] = splitSpans(body);
  const [shown] = shownAs([span], convention);
  // What was there is there, byte for byte.
  assert.deepEqual(shown.bytes.subarray(0, span.bytes.length), span.bytes);
  return Object.fromEntries(readAttributes(shown.bytes.subarray(span.bytes.length), [...NAMES, ...LANGSMITH]));
}

/** @type {Record<string, [attributes: Record<string, any>, added: Record<string, string>]>} */
const CASES = {
  "MLflow's inputs and output, with texts": [
    { "mlflow.spanInputs": json({ prompt_ids: ids("Hi?"), n: 1 }), "mlflow.spanOutputs": json({ token_ids: ids("Ho!") }) },
    { "input.value": "Hi?", "input.mime_type": "text/plain", "output.value": "Ho!", "output.mime_type": "text/plain", "openinference.span.kind": "LLM" },
  ],
  "without texts": [
    { "mlflow.spanInputs": '{"a": NaN, "b": 12345678901234567890}', "mlflow.spanOutputs": '"a \\"text\\""' },
    { "input.value": '{"a": NaN, "b": 12345678901234567890}', "input.mime_type": "application/json", "output.value": 'a "text"', "output.mime_type": "text/plain" },
  ],
  "lists of pairs": [
    { "mlflow.spanInputs": { prompt_ids: ids("Hi") }, "mlflow.spanOutputs": { ok: true } },
    { "input.value": "Hi", "input.mime_type": "text/plain", "output.value": '{"prompt_text": "Hi", "ok": true}', "output.mime_type": "application/json" },
  ],
  "attributes of their own": [
    { prompt_token_ids: ids("Hi"), response_token_ids: ids("Ho") },
    { "input.value": "Hi", "input.mime_type": "text/plain", "output.value": "Ho", "output.mime_type": "text/plain", "openinference.span.kind": "LLM" },
  ],
  "an output that is ids": [
    { "mlflow.spanInputs": json({ prompt_ids: ids("Hi") }), "mlflow.spanOutputs": json(ids("Ho")) },
    { "input.value": "Hi", "input.mime_type": "text/plain", "output.value": "Ho", "output.mime_type": "text/plain", "openinference.span.kind": "LLM" },
  ],
  "several answers": [
    { "mlflow.spanInputs": "{}", "mlflow.spanOutputs": json({ prompt_token_ids: ids("Hi"), choices: [{ token_ids: ids("a") }, { token_ids: ids("b") }] }) },
    { "input.value": "Hi", "input.mime_type": "text/plain", "output.value": '["a","b"]', "output.mime_type": "application/json", "openinference.span.kind": "LLM" },
  ],
  "a parser, whose input a model has written": [
    { "mlflow.spanInputs": json({ responses_ids: ids("call") }), "mlflow.spanOutputs": '["", []]', "mlflow.spanType": '"PARSER"' },
    { "input.value": "call", "input.mime_type": "text/plain", "output.value": '["", []]', "output.mime_type": "application/json" },
  ],
  "a kind that it says": [{ "gen_ai.operation.name": "execute_tool" }, { "openinference.span.kind": "TOOL" }],
  "MLflow's kind": [{ "mlflow.spanType": '"CHAT_MODEL"' }, { "openinference.span.kind": "LLM" }],
  "what it has stays": [
    { "input.value": json({ prompt_ids: ids("Hi") }), "output.value": "", "mlflow.spanOutputs": json({ token_ids: ids("Ho") }), "openinference.span.kind": "CHAIN" },
    {},
  ],
  "broken JSON with a name in it": [{ "mlflow.spanOutputs": '{"response_text": ' }, { "output.value": '{"response_text": ', "output.mime_type": "application/json" }],
  nothing: [{ a: 1 }, {}],
};
for (const [name, [attributes, expected]] of Object.entries(CASES)) {
  test(name, () => assert.deepEqual(added(attributes), expected));
}

test("LangSmith's names", () => {
  const attributes = { "mlflow.spanInputs": json({ prompt_ids: ids("Hi") }), "mlflow.spanOutputs": json({ token_ids: ids("Ho") }) };
  assert.deepEqual(added(attributes, "langsmith"), { "gen_ai.prompt": "Hi", "gen_ai.completion": "Ho", "langsmith.span.kind": "llm" });
  assert.deepEqual(added({ ...attributes, "gen_ai.prompt": "mine", "openinference.span.kind": "AGENT" }, "langsmith"), { "gen_ai.completion": "Ho", "langsmith.span.kind": "chain" });
});

test("what holds other spans is no call of a model", () => {
  const answer = { "mlflow.spanOutputs": json({ response_text: "Ho", token_ids: ids("Ho") }) };
  const spans = splitSpans(request({ span: "01".repeat(8), attributes: answer }, { span: "02".repeat(8), parent: "01".repeat(8), attributes: answer }));
  const kinds = shownAs(spans, "openinference").map(({ bytes }) => readAttributes(bytes, NAMES).get("openinference.span.kind"));
  assert.deepEqual(kinds, [undefined, "LLM"]);
});

test("spans that `write` has made", async () => {
  const span = { traceId: "1".repeat(32), spanId: "2".repeat(16), name: "generate", inputs: json({ prompt_ids: ids("Hi") }), output: json({ token_ids: ids("Ho") }) };
  const { body } = enricher.enrichBody(await write([span], "otlp-proto"));
  const [shown] = shownAs(splitSpans(body), "openinference");
  assert.deepEqual([...readAttributes(shown.bytes, ["input.value", "output.value"]).values()], ["Hi", "Ho"]);
});

test("attributes of what spans ran on are added where there are none", () => {
  const resource = [bytesField(1, [textField(1, "service.name"), bytesField(2, textField(1, "mine"))]), bytesField(9, Uint8Array.of(1))];
  const spans = bytesField(2, bytesField(2, textField(5, "generate")));
  const schema = textField(3, "https://example.org/schema");
  const around = (/** @type {Uint8Array[]} */ ...parts) => bytesField(1, [...parts, schema, spans]);
  const wanted = { "service.name": "other", "openinference.project.name": "p" };
  const pair = bytesField(1, [textField(1, "openinference.project.name"), bytesField(2, textField(1, "p"))]);
  const sent = (/** @type {Uint8Array} */ body) => joinSpans(withResource(splitSpans(body), wanted));
  assert.deepEqual(sent(around(bytesField(1, resource))), around(bytesField(1, [...resource, pair])));
  const both = concat([bytesField(1, [textField(1, "service.name"), bytesField(2, textField(1, "other"))]), pair]);
  assert.deepEqual(sent(around()), around(bytesField(1, both)));
  assert.equal([...fields(sent(concat([around(), around()])))].length, 2);
});
