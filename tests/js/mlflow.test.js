/** The parts of MLflow's exporter that need no server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Numeral, parseExact, stringifyExact } from "../../pkg/exporters/exact-json.js";
import { MlflowExporter, MlflowReader } from "../../pkg/exporters/mlflow.js";
import { previewsFor } from "../../pkg/exporters/mlflow-previews.js";
import { Unsendable, doubleText, toOtlp, toStored } from "../../pkg/exporters/mlflow-spans.js";
import { joinSpans, requestOf, splitSpans, storable } from "../../pkg/exporters/otlp-request.js";
import { bytesField, concat, fields, fixed64Field, fixed64Of, textField, varintField, varintOf } from "../../pkg/exporters/wire.js";
import { failure } from "./support/expect.js";

test("JSON keeps the text of its numbers and the order of its keys", () => {
  const text = '{"b": [1.50, -0, 1e400, NaN, -Infinity, Infinity, 12345678901234567890], "2": null, "1": {"a\\"": "\\\\", "x": true}, "__proto__": false}';
  assert.equal(stringifyExact(parseExact(text)), text);
  assert.equal(stringifyExact(parseExact(' [ ] ')), "[]");
  assert.ok(parseExact("7") instanceof Numeral);
  for (const bad of ["", "{", '{"a"}', "[1,]", "[1 2]", '"a', "01x", "tru", "1 2", '{"a": 1,}', "-", "'a'", '"\\x"']) assert.throws(() => parseExact(bad), failure("invalid_body", /not JSON at character/), bad);
  assert.throws(() => parseExact("[".repeat(100_000)), failure("limit_exceeded", /deeper than/));
});

test("numbers of the wire are exact", () => {
  for (const value of [0n, 1n, 127n, 128n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n - 1n, -1n, -(2n ** 63n)]) {
    const [field] = fields(varintField(3, value));
    assert.equal(BigInt.asIntN(64, varintOf(field)), value);
    const [fixed] = fields(fixed64Field(7, BigInt.asUintN(64, value)));
    assert.equal(BigInt.asIntN(64, fixed64Of(fixed)), value);
  }
});

test("what is no message is refused, without a read behind its end", () => {
  const good = concat([varintField(1, 300n), textField(2, "abc"), fixed64Field(3, 1n)]);
  const ends = [3, 8, 17];
  for (let length = 1; length < good.length; length++) {
    const read = () => [...fields(good.subarray(0, length))];
    if (ends.includes(length)) read();
    else assert.throws(read, { code: "invalid_body" }, String(length));
  }
  for (const bad of [[0x0b], [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], Array(11).fill(0xff)]) {
    assert.throws(() => [...fields(Uint8Array.from(bad))], { code: "invalid_body" });
  }
});

test("spans are cut out with their resource and scope, and unknown fields stay", () => {
  const span = (/** @type {number} */ trace, /** @type {number} */ id) => concat([bytesField(1, new Uint8Array(16).fill(trace)), bytesField(2, new Uint8Array(8).fill(id)), textField(99, "unknown")]);
  const scope = concat([bytesField(1, textField(1, "scope")), bytesField(2, span(1, 1)), bytesField(2, span(2, 2)), textField(3, "schema")]);
  const body = concat([bytesField(1, [bytesField(1, bytesField(1, textField(1, "key"))), bytesField(2, scope), bytesField(2, bytesField(2, span(1, 3)))]), bytesField(1, [bytesField(2, bytesField(2, span(2, 4)))])]);
  const spans = splitSpans(body);
  assert.deepEqual(spans.map(({ spanId }) => spanId.slice(0, 2)), ["01", "02", "03", "04"]);
  const ofFirst = spans.filter(({ traceId }) => traceId.startsWith("01"));
  const parts = splitSpans(joinSpans(ofFirst));
  assert.deepEqual(parts.map(({ bytes }) => bytes), [span(1, 1), span(1, 3)]);
  for (const [i, part] of parts.entries()) assert.deepEqual([part.scope.rest, part.resource.rest], [ofFirst[i].scope.rest, ofFirst[i].resource.rest]);
  assert.deepEqual(splitSpans(joinSpans(spans)).map(({ bytes }) => bytes), spans.map(({ bytes }) => bytes));
  assert.deepEqual(splitSpans(new Uint8Array()), []);
});

/** @param {Uint8Array} message @returns {Uint8Array} */
const inRequest = (message) => bytesField(1, bytesField(2, bytesField(2, message)));

test("a span without such values is the very same bytes", () => {
  const nested = (/** @type {string} */ text) => bytesField(9, [textField(1, "k"), bytesField(2, bytesField(6, bytesField(1, [textField(1, "in"), bytesField(2, textField(1, text))])))]);
  const good = concat([textField(5, "näme"), nested("ü")]);
  const { spans: [same], repaired: none } = storable(splitSpans(inRequest(good)));
  assert.deepEqual(same.bytes, good);
  assert.deepEqual(none, []);
  const bad = concat([bytesField(5, Uint8Array.of(0xff)), nested("a\0")]);
  const { spans: [span], repaired } = storable(splitSpans(inRequest(bad)));
  assert.deepEqual(repaired.map(({ repairs }) => repairs.toSorted()), [["nul", "surrogate"]]);
  assert.deepEqual(span.bytes, concat([textField(5, "\u{FFFD}"), nested("a\u{FFFD}")]));
});

test("JSON in a value is repaired, and other text is left alone", () => {
  const attribute = (/** @type {string} */ text) => bytesField(9, [textField(1, "k"), bytesField(2, textField(1, text))]);
  const kept = ['{"a": "\\ud83d\\ude00 \\\\ud800", "n": 9223372036854775807}', '["1234567890123456789012"]', "{no JSON: 1234567890123456789012}", '{"cut \\ud800', "1234567890123456789012"];
  for (const text of kept) {
    const { spans: [span], repaired } = storable(splitSpans(inRequest(attribute(text))));
    assert.deepEqual([span.bytes, repaired], [attribute(text), []], text);
  }
  const { spans: [span], repaired } = storable(splitSpans(inRequest(attribute('{"n": [9223372036854775808, NaN], "s": "\\uD800x"}'))));
  assert.deepEqual(span.bytes, attribute('{"n": ["9223372036854775808", NaN], "s": "\\ufffdx"}'));
  assert.deepEqual(repaired.map(({ repairs }) => repairs.toSorted()), [["integer", "surrogate"]]);
});

test("text behind and inside of lists of integers is found", () => {
  const int = (/** @type {bigint} */ value) => bytesField(1, varintField(3, value));
  const half = bytesField(1, Uint8Array.of(0xed, 0xa0, 0x80));
  const list = (/** @type {Uint8Array[]} */ ...items) => bytesField(9, [textField(1, "ids"), bytesField(2, bytesField(5, items))]);
  const lists = [list(int(1n), int(300n), bytesField(1, half)), list(bytesField(1, [varintField(3, 1n), half])), list(int(-1n), bytesField(1, bytesField(5, bytesField(1, half))))];
  for (const bad of lists) assert.equal(storable(splitSpans(inRequest(bad))).repaired.length, 1);
  const good = list(int(0n), int(151645n), int(-1n), bytesField(1, new Uint8Array()));
  assert.deepEqual(storable(splitSpans(inRequest(good))).repaired, []);
});

test("so are resource and scope, which spans go on sharing", () => {
  const bad = Uint8Array.of(0xed, 0xa0, 0x80);
  const name = (/** @type {Uint8Array} */ text) => bytesField(1, [bytesField(1, text), textField(2, "1.0")]);
  const resource = (/** @type {Uint8Array} */ text) => bytesField(1, bytesField(1, [textField(1, "service.name"), bytesField(2, bytesField(1, text))]));
  const body = (/** @type {Uint8Array} */ text) => bytesField(1, [resource(text), bytesField(2, [name(text), bytesField(2, textField(5, "a")), bytesField(2, textField(5, "b"))])]);
  const { spans, repaired } = storable(splitSpans(body(bad)));
  assert.deepEqual(joinSpans(spans), body(new TextEncoder().encode("\u{FFFD}\u{FFFD}\u{FFFD}")));
  assert.equal(repaired.length, 2);
});

test("doubles are written as Python does", () => {
  // Each text is Python's repr.
  for (const text of ["0.0", "-0.0", "1.0", "0.1", "1e+16", "1e-05", "0.0001", "123456789012345.6", "1.5e+300", "5e-324", "1.7976931348623157e+308", "NaN", "Infinity", "-Infinity", "-2.5e-10", "1234567890123456.0", "1.2345678901234568e+16"]) {
    assert.equal(doubleText(Number(text)), text);
  }
});

const stored = (attributes = "{}", more = "") => {
  const text = `{"trace_id": "uoxpaBLdovJe4R248w0FIQ==", "span_id": "yNatoQMBCBk=", "parent_span_id": null, "name": "n", "start_time_unix_nano": 1795963416231962679, "end_time_unix_nano": 1795963416257655421, "events": [], "status": {"code": "STATUS_CODE_OK", "message": ""}, "attributes": ${attributes}, "links": []${more}}`;
  return /** @type {import("../../pkg/exporters/exact-json.js").ExactObject} */ (parseExact(text));
};

test("a stored span is the same after it was sent", () => {
  const attributes = {
    tricky: '{"text": "\\"start_time_unix_nano\\": 123, \\\\", "n": [NaN, 2.50, 123456789012345678901234567890]}',
    text: '"start_time_unix_nano\\": 5"',
    int: "-9223372036854775808",
    real: "1e-05",
    nan: "NaN",
    yes: "true",
    nothing: "null",
    "mlflow.traceRequestId": '"tr-ba8c696812dda2f25ee11db8f30d0521"',
  };
  const span = stored(JSON.stringify(attributes));
  assert.equal(stringifyExact(toStored(concat(toOtlp(span)))), stringifyExact(span));
});

test("what OTLP cannot say is not sent", () => {
  for (const attributes of ['{"a": "123456789012345678901234567890"}', '{"a": "2.50"}', '{"a": "01"}', '{"a": "words"}', '{"a": 123456789012345678901234567890}']) {
    assert.throws(() => toOtlp(stored(attributes)), Unsendable, attributes);
  }
  assert.throws(() => toOtlp(/** @type {any} */ (new Map([["trace_id", "short"]]))), Unsendable);
});

test("previews are set where there is none or the ids of the root", () => {
  const root = stored('{"mlflow.spanOutputs": "{\\"response_text\\": \\"answer\\\\u0000\\", \\"response_ids\\": [1]}"}');
  const info = /** @type {import("../../pkg/exporters/mlflow-previews.js").TraceInfo} */ ({ trace_id: "t", trace_location: {}, request_time: "", state: "OK" });
  assert.deepEqual(previewsFor(info, [root]), { response_preview: "answer\u{FFFD}" });
  assert.deepEqual(previewsFor({ ...info, response_preview: '{"response_ids": [1' }, [root]), { response_preview: "answer\u{FFFD}" });
  assert.deepEqual(previewsFor({ ...info, response_preview: "said before" }, [root]), {});
  const child = new Map([...root, ["parent_span_id", "AAAAAAAAAAE="]]);
  assert.deepEqual(previewsFor({ ...info, response_preview: '{"response_ids": [1' }, [child]), {});
  assert.deepEqual(previewsFor(info, [child]), { response_preview: "answer\u{FFFD}" });
});

test("options that make no sense are refused at once", () => {
  const url = "http://127.0.0.1:5000";
  for (const [options, message] of /** @type {[any, RegExp][]} */ ([
    [{ url: "sqlite:///x.db" }, /mlflow server --backend-store-uri/],
    [{ url: "" }, /no address/],
    [{ url, experimentId: "name" }, /in digits/],
    [{ url, experiment: "a", experimentId: "1" }, /not both/],
    [{ url, route: "ftp" }, /route is/],
  ])) {
    assert.throws(() => new MlflowExporter(options), { code: "invalid_options", message });
  }
  assert.equal(new MlflowReader({ url: "http://user:secret@host:1/prefix/" }).address, "http://host:1/prefix");
});

test("a server that is not there is told as such, and may be asked again", async () => {
  const result = await new MlflowExporter({ url: "http://127.0.0.1:9" }).export(requestOf([bytesField(1, new Uint8Array(16))]));
  assert.equal(result.status, "retryable");
  assert.match("error" in result ? result.error.message : "", /no server answers at http:\/\/127\.0\.0\.1:9/);
});
