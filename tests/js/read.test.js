/** The face of `read`; what it reads is tested against the captures in Rust. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { Enricher, Token2TextError, Tokenizer, read } from "../../pkg/node.js";
import * as worker from "../../pkg/worker-node.js";
import { byteLevel, jsonBytes } from "./support/tokenizers.js";

after(() => worker.terminate());

/** @param {unknown} value */
const bytes = (value) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
/** @param {string} code @param {RegExp} words */
const failure = (code, words) => (/** @type {unknown} */ error) =>
  error instanceof Token2TextError && error.code === code && words.test(error.message);

const CALL = {
  id: "a", op_name: "weave:///e/p/op/gen:digest", trace_id: "t", parent_id: null, started_at: "2026-11-29T14:44:21.000000001Z",
  ended_at: "2026-11-29T14:44:22Z", attributes: { step: 3, validate: false, experiment_name: "x" }, inputs: { prompt_ids: [72] },
  output: { response_ids: [72, 105], response_mask: [1, true], response_logprobs: [-0.5, null], response_text: "Hi" },
};

test("a span is plain data", async () => {
  const [span, ...others] = await read(bytes({ batch: [CALL] }));
  assert.deepEqual(others, []);
  const { fields, ...facts } = span;
  assert.deepEqual(facts, {
    path: "/batch/0", traceId: "t", spanId: "a", name: "gen", startUnixNano: "1795963461000000001",
    endUnixNano: "1795963462000000000", status: "ok", step: 3, validate: false, experimentName: "x",
    inputs: JSON.stringify(CALL.inputs), output: JSON.stringify(CALL.output), attributes: JSON.stringify(CALL.attributes),
  });
  assert.deepEqual(fields, [
    { kind: "prompt", layout: "verl", path: "/batch/0/inputs/prompt_ids", textPath: "/batch/0/output/prompt_text", ids: Uint32Array.of(72) },
    {
      kind: "response", layout: "verl", path: "/batch/0/output/response_ids", textPath: "/batch/0/output/response_text",
      ids: Uint32Array.of(72, 105), mask: Int32Array.of(1, 1), logprobs: Float64Array.of(-0.5, NaN), existing: "Hi",
    },
  ]);
  for (const { ids } of fields) assert.equal(ids.buffer.byteLength, 4 * ids.length, "a buffer of its own");
});

test("names of what is no finite number, rows and segments", async () => {
  const layout = {
    name: "rows", when: ["/output/rows"], fields: [
      { kind: /** @type {const} */ ("response"), ids: "/output/rows", text: "/output/t", mask: "/output/m", logprobs: "/output/l" },
      { kind: /** @type {const} */ ("prompt"), ids: "/output/p", text: "/output/u", select: { ranges: "/output/r", inside: true }, logprobs: "/output/n" },
    ],
  };
  const body = '{"output": {"rows": [[1, 2], [3]], "m": [[1, 0], [1]], "l": [[NaN, -Infinity], ["NaN"]], "t": ["a", "b"], ' +
    '"p": [4, 5, 6, 7], "r": [[0, 1], [2, 4]], "n": [Infinity, 1, 2, {"NaN": 1}]}}';
  const [rows, part] = (await read(bytes(body), { layouts: layout }))[0].fields;
  assert.deepEqual([...rows.ids], [1, 2, 3]);
  assert.deepEqual(rows.rows, [2, 3]);
  assert.deepEqual([...(rows.mask ?? [])], [1, 0, 1]);
  assert.deepEqual([...(rows.logprobs ?? [])], [NaN, -Infinity, NaN]);
  assert.deepEqual(rows.existing, ["a", "b"]);
  assert.deepEqual([...part.ids], [4, 6, 7]);
  assert.deepEqual(part.segments, [[0, 1], [2, 4]]);
  assert.deepEqual([...(part.logprobs ?? [])], [Infinity, 1, 2, NaN]);
});

test("what a server says of traces gives the trajectory", async () => {
  const folder = new URL("../fixtures/wire/mlflow/verl-qwen3-ids/", import.meta.url);
  const spans = await read(readFileSync(new URL("15-get-trace-artifact.json", folder)), {
    traceInfos: readFileSync(new URL("10-search.json", folder)), url: new URL("http://server/ajax-api/3.0/mlflow/get-trace-artifact?request_id=x"),
  });
  assert.ok(spans.length > 1);
  for (const { step, sampleIndex, rolloutN, validate, experimentName } of spans) {
    assert.deepEqual([step, sampleIndex, rolloutN, validate, experimentName], [3, 8, 2, false, "qwen3-main"]);
  }
});

test("mistakes have codes", async () => {
  for (const [run, code, words] of /** @type {[() => Promise<unknown>, string, RegExp][]} */ ([
    [() => read(bytes("{}"), /** @type {any} */ ({ formt: "auto" })), "invalid_options", /formt/],
    [() => read(bytes("{}"), { format: /** @type {any} */ ("otlp") }), "invalid_options", /otlp-json/],
    [() => read(bytes("{}"), { layouts: "nobody" }), "invalid_layout", /nobody/],
    [() => read(/** @type {any} */ ("{}")), "invalid_body", /TextEncoder/],
    [() => read(bytes("{}"), { traceInfos: /** @type {any} */ ("{}") }), "invalid_body", /traceInfos/],
    [() => read(bytes("{")), "invalid_body", /not JSON/],
    [() => read(bytes("{}"), { limits: { bodyBytes: 1 } }), "limit_exceeded", /bodyBytes/],
    [() => read(Uint8Array.of(0x1f, 0x8b, 8)), "compressed_input", /gzip/],
  ])) {
    await assert.rejects(run, failure(code, words));
  }
  await assert.rejects(worker.read(bytes("{")), failure("invalid_body", /not JSON/));
});

test("the worker reads the same", async () => {
  const body = bytes({ batch: [CALL] });
  assert.deepEqual(await worker.read(body, { url: new URL("http://server/calls/complete") }), await read(body));
});

test("a span that was read is enriched in its texts", async () => {
  const [span] = await read(bytes({ batch: [{ ...CALL, output: { response_ids: [72, 105] } }] }));
  const { span: enriched, report } = new Enricher(Tokenizer.fromBytes(jsonBytes(byteLevel()))).enrich(span);
  assert.equal(enriched.output, '{"response_text":"Hi","prompt_text":"H","response_ids":[72,105]}'.replace('"response_text":"Hi","prompt_text":"H"', '"prompt_text":"H","response_text":"Hi"'));
  assert.deepEqual(report.fields.map(({ path }) => path), ["/inputs/!json/prompt_ids", "/output/!json/response_ids"]);
  assert.equal(span.output, '{"response_ids":[72,105]}');
});
