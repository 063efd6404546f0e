/** The exporter and the reader against a real server of MLflow. The command is in mlflow-command.test.js. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withRetry } from "../../pkg/exporters/mlflow.js";
import { bytesField, fixed64Field, textField } from "../../pkg/exporters/wire.js";
import { read } from "../../pkg/node.js";
import { freshId, keyValue, recorded, request, START } from "./support/fixtures.js";
import { DECODED, IDS, enricher, exporter, fresh, isStored, onlyAdded, output, python, reader, server, spansOf, tokenizer, value } from "./support/mlflow-tests.js";

test("recorded bodies are stored, and the client reads their texts and all else as without us", async () => {
  const [plain, enriched] = [fresh(), fresh()];
  // One after the other, for the ids of the traces are the same.
  const bodies = recorded("verl-edge-qwen3-ids").slice(0, 3);
  for (const body of bodies) isStored(await exporter(plain).export(body));
  const before = await python.ask("traces", plain);
  assert.ok(before.length > 5);
  for (const body of bodies) isStored(await exporter(enriched).export(enricher.enrichBody(body).body));
  let texts = 0;
  for (const trace of before) {
    const now = await python.ask("trace", trace.id);
    for (const [id, span] of Object.entries(trace.spans)) texts += onlyAdded(span, now.spans[id]);
    assert.equal(now.experiment, trace.experiment);
    for (const key of ["state", "time", "duration"]) assert.equal(now[key], trace[key], key);
  }
  assert.ok(texts > 5);
});

test("every kind of value comes back as it was sent", async () => {
  const experiment = fresh();
  const trace = freshId(16);
  const tricky = '{"x": "\\"start_time_unix_nano\\": 123", "n": [NaN, -Infinity, 9007199254740993, 2.5], "b": 1, "a": 2}';
  const attributes = { text: "plain", json: tricky, int: -(2n ** 62n), yes: true, real: 0.1, whole: 1e16, "mlflow.spanInputs": tricky };
  const event = bytesField(11, [fixed64Field(1, START), textField(2, "event"), bytesField(3, keyValue("big", 2n ** 60n)), bytesField(3, keyValue("json", '{"a":1}'))]);
  const link = bytesField(13, [bytesField(1, Buffer.from(freshId(16), "hex")), bytesField(2, Buffer.from(freshId(8), "hex")), bytesField(4, keyValue("k", "v"))]);
  const root = { trace, span: freshId(8), name: "root", attributes: { step: 3n, validate: false, experiment_name: "e" } };
  const child = { trace, span: freshId(8), parent: root.span, attributes: { ...attributes, "mlflow.spanOutputs": output }, more: [event, link] };
  isStored(await exporter(experiment).export(request(root, child)));
  const stored = await python.ask("trace", `tr-${trace}`);
  const span = stored.spans[child.span];
  assert.equal(span.start_time_unix_nano, String(START));
  assert.equal(span.attributes.json, tricky);
  assert.equal(span.attributes["mlflow.spanInputs"], tricky);
  assert.deepEqual([span.attributes.int, span.attributes.yes, span.attributes.real, span.attributes.whole, span.attributes.text], ["-4611686018427387904", "true", "0.1", "1e+16", '"plain"']);
  // The tags by which verl's own traces are found.
  assert.deepEqual([stored.tags.step, stored.tags.validate, stored.tags.experiment_name, stored.tags["mlflow.traceName"]], ["3", "False", "e", "root"]);

  // Enriched in place, everything but the output is the same.
  const { status } = await reader(experiment).enrich(`tr-${trace}`, enricher, { mode: "in-place" });
  assert.equal(status, "changed");
  const now = await python.ask("trace", `tr-${trace}`);
  assert.equal(onlyAdded(span, now.spans[child.span]), 1);
  assert.equal(value(now.spans[child.span], "mlflow.spanOutputs").response_text, DECODED);
  assert.deepEqual(now.spans[root.span], stored.spans[root.span]);
});

test("spans get the type that other conventions name", async () => {
  const trace = freshId(16);
  const types = [["gen_ai.operation.name", "chat", "CHAT_MODEL"], ["openinference.span.kind", "TOOL", "TOOL"], ["mlflow.spanType", '"LLM"', "LLM"]];
  const parent = freshId(8);
  const children = types.map(([key, value]) => ({ trace, span: freshId(8), parent, attributes: { [key]: value } }));
  isStored(await exporter(fresh()).export(request({ trace, span: parent }, ...children)));
  const stored = await python.ask("trace", `tr-${trace}`);
  assert.deepEqual(children.map(({ span }) => value(stored.spans[span], "mlflow.spanType")), types.map(([, , type]) => type));
});

test("messages and a decoded response are a chat", async () => {
  const [trace, parent] = [freshId(16), freshId(8)];
  const messages = '[{"role": "user", "content": "why?"}]';
  const inputs = [`{"messages": ${messages}}`, `{"kwargs": {"raw_prompt": ${messages}}}`, '{"messages": [{"role": "poet", "content": ""}]}', "{}"];
  const spans = inputs.map((json) => ({ trace, span: freshId(8), parent, attributes: { "mlflow.spanInputs": json, "mlflow.spanOutputs": output } }));
  const { body } = enricher.enrichBody(request({ trace, span: parent }, ...spans), { contentType: "application/x-protobuf" });
  isStored(await exporter(fresh()).export(body));
  const stored = await python.ask("trace", `tr-${trace}`);
  const chat = [...JSON.parse(messages), { role: "assistant", content: DECODED }];
  const found = spans.map(({ span }) => JSON.parse(stored.spans[span].attributes["mlflow.chat.messages"] ?? "null"));
  assert.deepEqual(found, [chat, chat, null, null]);
});

test("the list of traces shows the texts, whichever request they came with", async () => {
  const [trace, parent] = [freshId(16), freshId(8)];
  const experiment = fresh();
  const long = "ü".repeat(3000);
  const texts = JSON.stringify({ prompt_text: "a question", response_text: long, token_ids: [1] });
  const sending = exporter(experiment);
  isStored(await sending.export(request({ trace, span: freshId(8), parent, attributes: { "mlflow.spanOutputs": texts } })));
  isStored(await sending.export(request({ trace, span: parent, name: "root" })));
  const { request: prompt, response, state } = await python.ask("trace", `tr-${trace}`);
  assert.deepEqual([prompt, response, state], ["a question", long.slice(0, 1000), "OK"]);
});

test("a request that is sent again changes nothing", async () => {
  const experiment = fresh();
  const [body] = recorded("verl-edge-qwen3-ids");
  const once = exporter(experiment);
  isStored(await once.export(body));
  const first = await python.ask("traces", experiment);
  isStored(await once.export(body));
  isStored(await exporter(experiment).export(body));
  assert.deepEqual(await python.ask("traces", experiment), first);
});

test("one bad span does not lose the others", async () => {
  const experiment = fresh();
  const traces = Array.from({ length: 7 }, () => freshId(16));
  /** @type {import("./support/fixtures.js").Handmade[]} */
  const good = traces.flatMap((trace) => [{ trace, span: freshId(8) }, { trace, span: freshId(8), parent: freshId(8) }]);
  /** @type {import("./support/fixtures.js").Handmade[]} */
  const spans = good.toSpliced(5, 0, { trace: traces[2], span: "", name: "bad" });
  const body = request(...spans);
  const copy = body.slice();
  const result = await exporter(experiment).export(body);
  assert.equal(result.status, "failure");
  assert.ok("rejected" in result);
  assert.deepEqual(result.rejected?.map(({ traceId, spanId }) => [traceId, spanId]), [[traces[2], ""]]);
  assert.match(result.error.message, /refused 1 of 15 spans/);
  const stored = await python.ask("traces", experiment);
  assert.deepEqual(stored.flatMap((/** @type {any} */ trace) => Object.keys(trace.spans)).sort(), good.map(({ span }) => span).sort());
  assert.deepEqual(body, copy);
});

test("texts and numbers that a server cannot store are replaced in the copy that is sent, and reported", async () => {
  const experiment = fresh();
  const [trace, span, other] = [freshId(16), freshId(8), freshId(8)];
  const half = Uint8Array.of(10, 5, 0x61, 0xed, 0xa0, 0x80, 0x62);
  const json = '{"a": "\\ud800 \\ud83d\\ude00 \\\\ud800", "n": 123456789012345678901234, "m": 9223372036854775807, "t": "123456789012345678901234"}';
  const spans = [{ trace, span, name: "a\0b", attributes: { half, "mlflow.spanInputs": json } }, { trace, span: other, parent: span }];
  const body = request(...spans);
  const copy = body.slice();
  const result = await exporter(experiment).export(body);
  assert.equal(result.status, "success");
  assert.deepEqual(result.repaired.map(({ spanId, repairs }) => [spanId, repairs.toSorted()]), [[span, ["integer", "nul", "surrogate"]]]);
  assert.deepEqual(body, copy);
  const stored = await python.ask("trace", `tr-${trace}`);
  assert.equal(Object.keys(stored.spans).length, 2);
  assert.equal(stored.spans[span].name, "a\u{FFFD}b");
  assert.equal(value(stored.spans[span], "half"), "a\u{FFFD}\u{FFFD}\u{FFFD}b");
  const expected = '{"a": "\u{FFFD} \u{1F600} \\\\ud800", "n": "123456789012345678901234", "m": 9223372036854775807, "t": "123456789012345678901234"}';
  assert.equal(stored.spans[span].attributes["mlflow.spanInputs"], expected);
});

test("a server that crashes amid a batch and comes back loses nothing", async () => {
  const experiment = fresh();
  const traces = Array.from({ length: 12 }, () => freshId(16));
  let broken = 0;
  const counting = (/** @type {any} */ url, /** @type {any} */ init) => fetch(url, init).catch((error) => {
    broken++;
    throw error;
  });
  const sending = exporter(experiment, { timeoutMillis: 5000, fetch: counting });
  isStored(await sending.export(request({ trace: traces[0], span: freshId(8) })));
  const send = withRetry((/** @type {Uint8Array} */ body) => sending.export(body), { attempts: 60, maxBackoffMillis: 1000 });
  const results = traces.slice(1).map((trace) => send(request({ trace, span: freshId(8) }, { trace, span: freshId(8), parent: freshId(8) })));
  await Promise.race(results);
  await server.stop("SIGKILL");
  await server.start();
  for (const result of await Promise.all(results)) isStored(result);
  assert.ok(broken > 0);
  const stored = await python.ask("traces", experiment);
  assert.deepEqual(stored.map((/** @type {any} */ trace) => trace.id).sort(), traces.map((trace) => `tr-${trace}`).sort());
  assert.equal(stored.flatMap(spansOf).length, 1 + 11 * 2);
});

test("a trace whose spans are a file stays one, with all its spans", async () => {
  const experiment = fresh();
  const [trace, root] = [freshId(16), freshId(8)];
  const inputs = '{"prompt_ids": [NaN, 9007199254740993], "b": 1.5}';
  const child = { trace, span: freshId(8), parent: root, attributes: { "mlflow.spanInputs": inputs, "mlflow.spanOutputs": output, real: 1e-5, int: 2n ** 60n, yes: true } };
  const files = exporter(experiment, { route: "artifact" });
  // In two requests: the second joins the first.
  isStored(await files.export(request(child)));
  assert.equal((await reader(experiment).info(`tr-${trace}`)).state, "IN_PROGRESS");
  isStored(await files.export(request({ trace, span: root, name: "root", attributes: { step: 7n } })));
  isStored(await files.export(request({ trace, span: root, name: "root", attributes: { step: 7n } })));
  const before = await python.ask("trace", `tr-${trace}`);
  assert.equal(before.tags["mlflow.trace.spansLocation"], undefined);
  assert.deepEqual([before.state, before.tags.step, before.tags["mlflow.traceName"]], ["OK", "7", "root"]);
  assert.equal(Object.keys(before.spans).length, 2);
  const stored = before.spans[child.span];
  assert.equal(stored.start_time_unix_nano, String(START));
  assert.equal(stored.attributes["mlflow.spanInputs"], inputs);
  assert.deepEqual([stored.attributes.real, stored.attributes.int, stored.attributes.yes], ["1e-05", String(2n ** 60n), "true"]);

  // The same spans by OTLP are stored in the same form.
  const twin = { ...child, trace: freshId(16) };
  isStored(await exporter(experiment).export(request({ trace: twin.trace, span: root, name: "root", attributes: { step: 7n } }, twin)));
  const byOtlp = (await python.ask("trace", `tr-${twin.trace}`)).spans[child.span];
  const { "mlflow.traceRequestId": _, ...attributes } = byOtlp.attributes;
  assert.deepEqual(Object.fromEntries(Object.entries(stored.attributes).filter(([key]) => key !== "mlflow.traceRequestId")), attributes);

  const { status } = await reader(experiment).enrich(`tr-${trace}`, enricher, { mode: "in-place" });
  assert.equal(status, "changed");
  const after = await python.ask("trace", `tr-${trace}`);
  assert.equal(after.tags["mlflow.trace.spansLocation"], undefined);
  assert.equal(onlyAdded(stored, after.spans[child.span]), 1);
  assert.deepEqual(after.spans[root], before.spans[root]);
  assert.equal(after.response, DECODED);
  assert.equal((await reader(experiment).enrich(`tr-${trace}`, enricher, { mode: "in-place" })).reason, "done-before");

  // A file cannot reach what is in the database.
  const refused = await files.export(request(twin));
  assert.match("error" in refused ? refused.error.message : "", /in the server's database/);
});

test("a trace that the server will not change is set aside, and left alone", async () => {
  const experiment = fresh();
  const experiment_id = await python.ask("create_experiment", experiment);
  const [trace, good] = [freshId(16), freshId(16)];
  const info = { trace_id: `tr-${trace}`, trace_location: { type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id } }, request_time: "2026-11-29T13:43:41.228Z", state: "OK" };
  const json = JSON.stringify({ trace: { trace_info: { ...info, tags: { "mlflow.trace.spansLocation": "ARTIFACT_REPO" } } } });
  const posted = await fetch(`${server.url}/api/3.0/mlflow/traces`, { method: "POST", body: json, headers: { "content-type": "application/json" } });
  assert.equal(posted.status, 200);
  let asked = 0;
  const counting = exporter(experiment, { fetch: (/** @type {any} */ url, /** @type {any} */ init) => (asked++, fetch(url, init)) });
  const result = await counting.export(request({ trace, span: freshId(8) }, { trace: good, span: freshId(8) }));
  assert.ok(result.status === "failure" && result.rejected);
  assert.deepEqual(result.rejected.map(({ traceId }) => traceId), [trace]);
  assert.equal(Object.keys((await python.ask("trace", `tr-${good}`)).spans).length, 1);
  asked = 0;
  const again = await counting.export(request({ trace, span: freshId(8) }));
  assert.equal(again.status, "failure");
  assert.equal(asked, 0);
  const path = `/api/2.0/mlflow-artifacts/artifacts/${experiment_id}/traces/tr-${trace}/artifacts/traces.json`;
  const spans = `{"spans":[{"trace_id":"","span_id":"AAAAAAAAAAE=","name":"x","attributes":{"mlflow.spanOutputs":${JSON.stringify(output)}}}]}`;
  assert.equal((await fetch(server.url + path, { method: "PUT", body: spans })).status, 200);
  const { status, reason } = await reader(experiment).enrich(`tr-${trace}`, enricher, { mode: "in-place" });
  assert.deepEqual([status, reason], ["skipped", "archived"]);
});

test("a search tells every trace once, also those of one moment", async () => {
  const experiment = fresh();
  const moments = [...Array(230).fill(0n), ...Array(20).fill(1_000_000n), 2_000_000n];
  const traces = moments.map((later) => ({ trace: freshId(16), span: freshId(8), start: START + later }));
  const quick = exporter(experiment);
  isStored(await quick.export(request(...traces)));
  /** @type {string[]} */
  const found = [];
  for await (const { trace_id } of reader(experiment).search()) found.push(trace_id);
  assert.equal(found.length, traces.length);
  assert.deepEqual(found.toSorted(), traces.map(({ trace }) => `tr-${trace}`).sort());
  assert.equal(found.at(-1), `tr-${traces.at(-1)?.trace}`);
  let limited = 0;
  for await (const _ of reader(experiment).search({ limit: 3, filter: "tags.`mlflow.traceName` = 'generate'" })) limited++;
  assert.equal(limited, 3);
});

test("generations of a validation are the file that verl writes", async () => {
  const experiment = fresh();
  await python.ask("create_experiment", experiment);
  const runId = await python.ask("create_run", experiment);
  const end = 151645;
  const result = await exporter(experiment).logGenerations([["in", "out", 0.5], [[...IDS, end], Uint32Array.from([end, ...IDS]), null]], { step: 4, runId, tokenizer });
  assert.deepEqual(result, { status: "success", runId });
  const rows = [{ input: "in", output: "out", score: 0.5 }, { input: DECODED, output: DECODED, score: null }];
  assert.deepEqual(await python.ask("artifact", runId, "val_step4.json"), rows);
  const own = await exporter(experiment).logGenerations([["in", "out", 1]], { step: 5 });
  assert.equal(own.status, "success");
  assert.deepEqual(await python.ask("artifact", own.runId, "val_step5.json"), [{ input: "in", output: "out", score: 1 }]);
  const without = await exporter(experiment).logGenerations([[IDS, "out", 1]], { step: 5 });
  assert.match(without.status === "failure" ? without.error.message : "", /sample 0 has ids/);
});

/** A rollout with a call in it. @returns {import("../../pkg/write.js").SpanInput[]} */
function rollout() {
  const traceId = freshId(16);
  const times = { startUnixNano: String(START), endUnixNano: String(START + 5_000_001n) };
  const loop = { traceId, spanId: freshId(8), name: "loop ü", ...times, status: /** @type {const} */ ("ok"), step: 3, sampleIndex: 17, rolloutN: 1, validate: false, experimentName: "é" };
  const call = { traceId, spanId: freshId(8), parentId: loop.spanId, name: "generate", ...times, inputs: '{"n": 9007199254740993, "x": [NaN]}', output };
  return [loop, call];
}

test("spans are stored as bodies are: the tags of their trajectory, their texts in the list, and once", async () => {
  const experiment = fresh();
  const spans = rollout();
  const given = structuredClone(spans);
  for (let run = 0; run < 2; run++) isStored(await exporter(experiment).export(spans));
  assert.deepEqual(spans, given);
  const ids = await python.ask("trace", `tr-${spans[0].traceId}`);
  const { step, sample_index, rollout_n, validate, experiment_name, "mlflow.traceName": name } = ids.tags;
  assert.deepEqual([step, sample_index, rollout_n, validate, experiment_name, name], ["3", "17", "1", "False", "é", "loop ü"]);
  const call = ids.spans[String(spans[1].spanId)];
  assert.deepEqual([call.start_time_unix_nano, call.end_time_unix_nano], [String(START), String(START + 5_000_001n)]);
  assert.equal(call.attributes["mlflow.spanInputs"], spans[1].inputs);
  assert.equal(call.attributes["mlflow.spanOutputs"], output);
  assert.equal(ids.response, null);
  assert.equal((await python.ask("traces", experiment)).length, 1);

  // What `read` gives of the stored trace, enriched, and sent to the same place.
  const stored = (await read(await reader(experiment).spans(ids.id))).map((span) => enricher.enrich(span).span);
  isStored(await exporter(experiment).export(stored));
  const now = await python.ask("trace", ids.id);
  assert.equal(now.response, DECODED);
  assert.equal(value(now.spans[String(spans[1].spanId)], "mlflow.spanOutputs").response_text, DECODED);

  const wrong = /** @type {any} */ ([{ output: 1 }]);
  const { status, error } = /** @type {any} */ (await exporter(experiment).export(wrong));
  assert.deepEqual([status, error.code], ["failure", "invalid_body"]);
});
