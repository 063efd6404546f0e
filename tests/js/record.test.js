/** Parsed records: what comes of them is what comes of their JSON, and what was not written is shared. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Enricher, Tokenizer } from "../../pkg/node.js";
import { failure } from "./support/expect.js";
import { jsonBytes } from "./support/tokenizers.js";

/** Ids 0 to 25 are the letters a to z. */
const vocab = Object.fromEntries(Array.from("abcdefghijklmnopqrstuvwxyz", (letter, id) => [letter, id]));
const tokenizer = Tokenizer.fromBytes(jsonBytes({ added_tokens: [], decoder: { type: "Fuse" }, model: { type: "WordLevel", unk_token: "a", vocab } }));
const enricher = new Enricher(tokenizer);
const parsed = (/** @type {Uint8Array} */ bytes) => JSON.parse(new TextDecoder().decode(bytes));
/** @param {object} record @returns {any} */
const enriched = (record) => enricher.enrich(record).span;

const RECORDS = [
  String.raw`{"inputs":{"prompt_ids":[0,1]},"outputs":{"token_ids":[2],"log_probs":[-0.5]}}`,
  String.raw`{"inputs":{"prompt_ids":[0]},"outputs":{}}`,
  String.raw`{"inputs":{"prompt_ids":[0]},"outputs":null}`,
  String.raw`{"inputs":{"prompt_ids":[0]},"outputs":[1,2]}`,
  String.raw`{"inputs":{"prompt_ids":[0]},"outputs":[{"prompt_ids":[1],"response_ids":[2]},"b","no"]}`,
  String.raw`{"prompt_ids":[0],"response_ids":[[1],[2,3]]}`,
  String.raw`[{"token_ids":[0]},5,{"token_ids":[1]}]`,
  String.raw`{"outputs":"{\"token_ids\": [0], \"s\": \"\\ud83d\"}","inputs":"{\"prompt_ids\":[1]}"}`,
  String.raw`{"outputs":"\"{\\\"token_ids\\\":[0]}\""}`,
  String.raw`{"outputs":{"token_ids":["0","1"],"prompt_ids":"[2 3]"}}`,
  String.raw`{"outputs":{"token_ids":[0,-1],"prompt_ids":[0,0.5]}}`,
  String.raw`{"outputs":{"token_ids":[0,null],"prompt_ids":[4294967296]}}`,
  String.raw`{"outputs":{"token_ids":7,"response_text":null}}`,
  String.raw`{"outputs":{"token_ids":[0],"response_text":"kept","prompt_ids":[],"prompt_text":["other"]}}`,
  String.raw`{"outputs":{"__proto__":{"token_ids":[1]},"constructor":[2],"token_ids":[0]}}`,
  String.raw`{"__proto__":{"outputs":{"token_ids":[1]}}}`,
  String.raw`{"events":[{"attributes":{"token_ids":[0]}},{"attributes":{"token_ids":[1]}}]}`,
  String.raw`{"model":"x","token_ids":[[0],[[1]]]}`,
  String.raw`{"outputs":"{\"x\": 1, \"token_ids\": [0]}","inputs":{"x":2,"prompt_ids":[1]}}`,
  String.raw`{"batch":[{"mode":"end","req":{"end":{"id":"1","output":[1]}}},{"mode":"start","req":{"start":{"id":"1","attributes":{},"inputs":{"prompt_ids":[0]}}}}]}`,
  String.raw`{"logs":[{"metrics":{"loss":1,"b":{"_type":"trackio.trace","messages":[{"content":"{\"inputs\": {\"prompt_ids\": [0]}}"}],"metadata":{"inputs":{"prompt_ids":[0]},"output":{"token_ids":[1,2]}}},"a":[{"_type":"trackio.trace","metadata":{"token_ids":[1]}}]}}]}`,
  String.raw`{"resourceSpans":[{"resource":{"attributes":[{"key":"llm.model_name","value":{"stringValue":"m"}}]},"scopeSpans":[{"spans":[{"spanId":"1","attributes":[{"key":"output.value","value":{"stringValue":"{\"x\": \"\\ud83d\", \"token_ids\": [1]}"}},{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"token_ids\":[1]}"}}]}]}]}]}`,
  String.raw`{"resourceSpans":[{"resource":{"attributes":[{"key":"llm.model_name","value":{"stringValue":"m"}}]},"scopeSpans":[{"spans":[{"spanId":"1","attributes":[{"key":"mlflow.spanInputs","value":{"kvlistValue":{"values":[{"key":"prompt_ids","value":{"arrayValue":{"values":[{"intValue":"0"},{"intValue":1}]}}}]}}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{}}}]}]}]}]}`,
  String.raw`{"resourceSpans":[{"resource":{"attributes":[{"key":"llm.model_name","value":{"stringValue":"m"}}]},"scopeSpans":[{"spans":[{"spanId":"1","attributes":[{"key":"mlflow.spanInputs","value":{"kvlistValue":{"values":[{"key":"prompt_ids","value":{"arrayValue":{"values":[{"intValue":"0"},{"intValue":"x"}]}}}]}}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"x","value":{}},{"key":"response_ids","value":{"arrayValue":{"values":[{"intValue":"2"}]}}},{"key":"response_mask","value":{"arrayValue":{"values":[{"boolValue":true}]}}}]}}}]}]}]}]}`,
  String.raw`{"resourceSpans":[{"resource":{"attributes":[{"key":"llm.model_name","value":{"stringValue":"m"}}]},"scopeSpans":[{"spans":[{"spanId":"1","attributes":[{"key":"prompt_ids","value":{"arrayValue":{"values":[{"arrayValue":{"values":[{"intValue":0}]}},{"arrayValue":{}}]}}},{"key":"response_ids","value":{"stringValue":"[1]"}},{"value":{"stringValue":"no key"}},5,null]}]}]}]}`,
  String.raw`{"resourceSpans":[{"resource":{"attributes":[{"key":"llm.model_name","value":{"stringValue":"m"}}]},"scopeSpans":[{"spans":[{"spanId":"1","attributes":[{"key":"mlflow.spanType","value":{"stringValue":"LLM"}},{"key":"prompt_ids","value":{"stringValue":"[0]"}},{"key":"token2text.response_text","value":{"stringValue":"\"x\""}},{"key":"response_ids","value":{"stringValue":"[1]"}}]}]}]}]}`,
  String.raw`{"resourceSpans":[{"resource":{"attributes":[{"key":"llm.model_name","value":{"stringValue":"m"}}]},"scopeSpans":[{"spans":[{"spanId":"1","attributes":[{"key":"token2text.response_text","value":{"stringValue":"x"}},{"key":"response_ids","value":{"stringValue":"[[1],[2]]"}}],"events":[{"attributes":[{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"3"}]}}}]},{"attributes":[]}]}]}]}]}`,
  String.raw`{"resourceSpans":[{"resource":{"attributes":[{"key":"llm.model_name","value":{"stringValue":"m"}}]},"scopeSpans":[{"spans":[{"spanId":"1","attributes":[{"key":"response_ids","value":{"arrayValue":{"values":[{"intValue":"99999999999999999999"}]}}},{"key":"n","value":{"doubleValue":0.5}},{"key":"n","value":{"bytesValue":"AA=="}}]}]}]}]}`,
  String.raw`{"resource_spans":[{"scope_spans":[{"spans":[{"attributes":[{"key":"response_ids","value":{"array_value":{"values":[{"int_value":"0"}]}}}]}]}]}]}`,
  String.raw`[{"resourceSpans":[]},{"resourceSpans":[{"scopeSpans":null}]}]`,
  String.raw`{"resourceSpans":{"scopeSpans":{"spans":{"attributes":{"output":{"token_ids":[1]}}}}}}`,
  String.raw`{"spans":[{"start_time_unix_nano":1,"attributes":{"mlflow.spanInputs":"{\"prompt_ids\": [0]}","mlflow.spanOutputs":"{\"token_ids\":[1]}"}},{"attributes":{"a":"1","response_ids":"[1]"}},{"attributes":{"token2text.response_text":"\"x\"","response_ids":"[[1],[2]]"}}]}`,
  String.raw`{"trace":{"trace_info":{"response_preview":"{\"token_ids\": [1]}"},"spans":[{"attributes":[{"key":"mlflow.spanOutputs","value":{"kvlist_value":{"values":[{"key":"token_ids","value":{"array_value":{"values":[{"int_value":1}]}}}]}}}]}]}}`,
  String.raw`{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"1","attributes":[{"key":"mlflow.spanInputs","value":{"stringValue":"{\"prompt_ids\":[0]}"}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[]}}}]}]}]}]}`,
  String.raw`{"prompt_ids":[0],"prompt_text":[1,2],"response_ids":[[1],[2]],"response_text":[]}`,
  String.raw`[]`,
  String.raw`{}`,
  String.raw`3`,
  String.raw`null`,
  String.raw`"text"`,
];

test("parsed records come to the same as bytes", () => {
  const all = [{}, { ids: "drop", existing: "replace" }, { maxTextChars: 1 }].map((options) => new Enricher(tokenizer, /** @type {any} */ (options)));
  let written = 0;
  for (const record of RECORDS) {
    for (const one of all) {
      const value = JSON.parse(record);
      const ofBytes = one.enrichBody(jsonBytes(value));
      if (typeof value !== "object" || value === null) continue;
      const { span, report } = one.enrich(value);
      assert.equal(JSON.stringify(span), JSON.stringify(parsed(ofBytes.body)), record);
      assert.deepEqual(report, { ...ofBytes.report, rule: "parsed value" }, record);
      assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(record)), "the record was changed");
      assert.equal(span === value, JSON.stringify(span) === JSON.stringify(value), record);
      written += span === value ? 0 : 1;
    }
  }
  assert.ok(written > 60, `${written}`);
});

test("what JSON cannot hold is read where it is numbers, and left alone", () => {
  const found = (/** @type {unknown} */ token_ids) => enriched({ output: { token_ids } }).output.response_text;
  for (const ids of [new Uint32Array([0, 1]), new Int32Array([0, 1]), new Float64Array([0, 1]), new BigInt64Array([0n, 1n]), [0n, 1n], [0, 1n], Object.freeze([0, 1])]) {
    assert.equal(found(ids), "ab", String(ids));
  }
  // eslint-disable-next-line no-sparse-arrays
  for (const ids of [new Int32Array([-1]), [0, , 1], [0, undefined], [0, NaN], new Float32Array([0.5]), () => 1, new DataView(new ArrayBuffer(4)), new Map([[0, 1]]), new Date(0), Symbol("x")]) {
    const record = { output: { token_ids: ids } };
    assert.equal(enriched(record), record);
  }
});

test("objects of every kind are read by their own members", () => {
  class Span {
    output = { token_ids: [0] };
  }
  const given = { output: { get token_ids() { return [0]; } } };
  const bare = { output: Object.assign(Object.create(null), { token_ids: [0] }) };
  const frozen = Object.freeze({ output: Object.freeze({ token_ids: Object.freeze([0]) }) });
  /** @type {any} */
  const loop = { output: { token_ids: [0] } };
  loop.output.self = loop;
  for (const record of [new Span(), given, bare, frozen, loop]) assert.equal(enriched(record).output.response_text, "a");
  assert.ok(enriched(new Span()) instanceof Span);
  assert.equal(enriched(loop).output.self, loop);
  assert.equal(Object.getPrototypeOf(enriched(bare).output), null);
  assert.ok(Object.getOwnPropertyDescriptor(enriched(given).output, "token_ids")?.get);
  assert.ok(!Object.isFrozen(enriched(frozen)));
  const thrown = () => {
    throw new Error("a trap");
  };
  const traps = { get: thrown, has: thrown, getPrototypeOf: thrown, getOwnPropertyDescriptor: thrown, ownKeys: thrown };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const record of [{ output: Object.create({ token_ids: [0] }) }, { output: { get token_ids() { return thrown(); } } }, { a: new Proxy({}, traps) }, { a: proxy }]) {
    assert.equal(enriched(record), record);
  }
});

test("members that JSON has no word for stay where they are", () => {
  const symbol = Symbol("s");
  const run = () => 1;
  const big = 2n ** 64n + 1n;
  const record = { output: { first: undefined, run, token_ids: [0], [symbol]: 1, big, when: new Date(0), nothing: NaN, minus: -0, 7: "seven" } };
  const { output } = enriched(record);
  assert.deepEqual(Object.keys(output), ["7", "first", "run", "response_text", "token_ids", "big", "when", "nothing", "minus"]);
  assert.deepEqual({ ...output, response_text: undefined }, { ...record.output, response_text: undefined });
  assert.equal(output.when, record.output.when);
});

test("what has no text is shared", () => {
  const record = { inputs: { prompt_ids: [0] }, output: { token_ids: [1], extra: { a: 1 } } };
  const span = enriched(record);
  assert.ok(span !== record && span.output !== record.output);
  assert.equal(span.inputs, record.inputs);
  assert.equal(span.output.extra, record.output.extra);
  const pairs = [{ key: "response_ids", value: { stringValue: "[0]" } }, { key: "x", value: {} }];
  const request = { resourceSpans: [{ scopeSpans: [{ spans: [{ attributes: pairs }, { attributes: [] }] }] }] };
  const [with_, without] = enriched(request).resourceSpans[0].scopeSpans[0].spans;
  assert.equal(without, request.resourceSpans[0].scopeSpans[0].spans[1]);
  assert.equal(with_.attributes.length, 3);
  assert.deepEqual(with_.attributes.slice(1).map((/** @type {object} */ pair, /** @type {number} */ i) => pair === pairs[i]), [true, true]);
});

test("pairs that go and come leave the others as they are", () => {
  const pair = (/** @type {string} */ key, /** @type {string} */ stringValue) => ({ key, value: { stringValue } });
  const pairs = [pair("x", "1"), pair("response_ids", "[0]"), pair("y", "2"), pair("x", "3")];
  const request = { resourceSpans: [{ scopeSpans: [{ spans: [{ attributes: pairs }] }] }] };
  const { span } = new Enricher(tokenizer, { ids: "drop" }).enrich(request);
  const { attributes } = /** @type {any} */ (span).resourceSpans[0].scopeSpans[0].spans[0];
  assert.deepEqual(attributes.map((/** @type {any} */ { key }) => key), ["x", "token2text.response_text", "y", "x"]);
  for (const [at, from] of [[0, 0], [2, 2], [3, 3]]) assert.equal(attributes[at], pairs[from]);
});

test("what is too deep is not looked into, and what is too long is refused", () => {
  /** @type {any} */
  let deep = { token_ids: [0] };
  for (let i = 0; i < 5000; i++) deep = { deep };
  const record = { output: { token_ids: [0], deep } };
  assert.equal(enriched(record).output.response_text, "a");
  assert.equal(enriched(record).output.deep, deep);
  /** @type {any} */
  let wide = ["a text that stands in many places"];
  for (let i = 0; i < 60; i++) wide = [wide, wide];
  assert.throws(() => enricher.enrich({ wide }), failure("limit_exceeded", /bodyBytes/));
  const small = new Enricher(tokenizer, { limits: { bodyBytes: 100, depth: 2 } });
  assert.throws(() => small.enrich({ a: "x".repeat(100) }), failure("limit_exceeded", /100/));
  assert.equal(small.enrich({ output: { token_ids: [0] } }).report.totals.decoded, 0);
});
