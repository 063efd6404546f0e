/** The exporter, the reader and the command against a real server of MLflow; what is stored is read by MLflow's own client. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MlflowExporter, MlflowReader, withRetry } from "../../pkg/exporters/mlflow.js";
import { Tokenizer } from "../../pkg/node.js";
import { token2text } from "../js/support/cli.js";
import { freshId, keyValue, qwen3, recorded, recordedJson, request, START, tokenizerFolder } from "./support/fixtures.js";
import { PythonClient, mlflowServer } from "./support/mlflow.js";
import { readCommands, readSections } from "../packaging/support/readme.js";
import { bytesField, fixed64Field, textField } from "../../pkg/exporters/wire.js";

const PKG = fileURLToPath(new URL("../../pkg", import.meta.url));
const server = mlflowServer();
/** @type {PythonClient} */
let python;
/** @type {import("../../pkg/node.js").Enricher} */
let enricher;
before(async () => {
  [enricher] = await Promise.all([qwen3(), server.start()]);
  python = new PythonClient(server.url);
});
after(async () => {
  python?.close();
  await server.dispose();
});

let serial = 0;
/** A new experiment for each test. */
const fresh = () => `experiment ${serial++} ü/x`;
/** @param {string} experiment @param {object} [more] */
const exporter = (experiment, more) => new MlflowExporter({ url: server.url, experiment, ...more });
/** @param {string} experiment */
const reader = (experiment) => new MlflowReader({ url: server.url, experiment });
/** @param {import("../../pkg/exporters/mlflow-exporter.js").ExportResult} result */
const isStored = (result) => assert.equal(result.status, "success", "error" in result ? result.error.message : "");
/** @param {string} experiment @param {...string} args */
const command = (experiment, ...args) => {
  return token2text(["mlflow", "enrich", "--tracking-uri", server.url, "--experiment", experiment, "-t", tokenizerFolder, ...args]);
};

const IDS = [52491, 83592, 52549];
const [DECODED] = await decodeAll([IDS]);
/** @param {number[][]} lists */
async function decodeAll(lists) {
  const tokenizer = await Tokenizer.load(join(tokenizerFolder, "tokenizer.json"));
  return tokenizer.decodeBatch(lists);
}
/** As Python spells it, for the server writes JSON anew. */
const output = `{"token_ids": [${IDS.join(", ")}]}`;

/** @param {any} trace The spans of a trace of the Python client, by their name and order. */
const spansOf = (trace) => /** @type {any[]} */ (Object.values(trace.spans));
/** An attribute as a value. @param {any} span @param {string} key */
const value = (span, key) => JSON.parse(span.attributes[key]);

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

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
/** A member with a text, with several, or with none yet. */
const TEXT_MEMBER = new RegExp(String.raw`"(?:prompt|response)_text": (?:null|${TEXT}|\[${TEXT}(?:, ${TEXT})*\]), `, "g");
const withoutTexts = (/** @type {string} */ json) => json.replaceAll(TEXT_MEMBER, "");

/**
 * Checks that a span is the same but for texts that were added; gives their number.
 *
 * @param {any} before @param {any} after
 */
function onlyAdded(before, after) {
  const { attributes: given, ...rest } = before;
  const { attributes: found, ...same } = after;
  assert.deepEqual(same, rest);
  let texts = 0;
  for (const [key, json] of Object.entries(found)) {
    if (json === given[key]) continue;
    texts++;
    if (given[key] === undefined) {
      assert.match(key, /^token2text\.(prompt|response)_text$|^mlflow\.chat\.messages$/);
      continue;
    }
    // The rest of the text is the same, byte for byte; a text that was there is still there.
    assert.equal(withoutTexts(json), withoutTexts(given[key]));
    for (const [text] of given[key].matchAll(TEXT_MEMBER)) assert.ok(text.endsWith("null, ") || json.includes(text), text);
  }
  for (const key of Object.keys(given)) assert.ok(key in found, key);
  return texts;
}

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

test("the command enriches what verl has recorded in place, and only that", async () => {
  const experiment = fresh();
  const bodies = [...recorded("verl-qwen3-ids"), ...recorded("verl-edge-qwen3-ids").map(elsewhere)];
  for (const body of bodies) isStored(await exporter(experiment).export(body));
  const before = await python.ask("traces", experiment);

  const viewed = await command(experiment);
  assert.equal(viewed.status, 0, viewed.stderr);
  assert.match(viewed.stderr, /would be changed/);
  const dry = await command(experiment, "--mode", "in-place", "--dry-run");
  assert.match(dry.stderr, /would be changed/);
  assert.deepEqual(await python.ask("traces", experiment), before);

  const { status, stdout, stderr } = await command(experiment, "--mode", "in-place");
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^36 traces: 34 changed, in 36 spans; \d+ previews set\nleft out, in-progress: tr-/);
  assert.match(stdout.toString(), /^tr-[\da-f]{32}\t\d+ spans?\t".*"(\.\.\.)?$/m);
  const after = await python.ask("traces", experiment);
  assert.equal(after.length, before.length);
  let texts = 0;
  let marked = 0;
  for (const trace of before) {
    const now = after.find((/** @type {any} */ other) => other.id === trace.id);
    for (const [id, span] of Object.entries(trace.spans)) texts += onlyAdded(span, now.spans[id]);
    const { "token2text.version": mark, ...tags } = now.tags;
    marked += mark === "1" ? 1 : 0;
    assert.deepEqual(tags, trace.tags);
    for (const key of ["experiment", "state", "time", "duration", "assessments"]) assert.deepEqual(now[key], trace[key], key);
    // What the server notes of a post of its own accord.
    assert.deepEqual({ ...now.metadata, "mlflow.trace.infoFinalized": "true" }, { ...trace.metadata, "mlflow.trace.infoFinalized": "true" });
  }
  assert.equal(marked, before.length - 1);
  assert.ok(texts >= 36);

  // The texts are those that the reference decodes.
  const expected = recordedJson("verl-qwen3-ids/expected.json").filter((/** @type {any} */ entry) => entry.rule === "verl").map((/** @type {any} */ entry) => entry.text);
  const nested = after.find((/** @type {any} */ trace) => trace.id === "tr-4a6c0e7e01261c757d638875327bd159");
  const outputs = spansOf(nested).filter(({ attributes }) => attributes["mlflow.spanOutputs"]).map((span) => value(span, "mlflow.spanOutputs"));
  const found = outputs.flatMap(({ prompt_text, response_text }) => [prompt_text, response_text]).filter((text) => text !== undefined);
  assert.ok(found.length >= 4);
  for (const text of found) assert.ok(expected.includes(text), text);
  assert.equal(nested.request, found[0].slice(0, 1000));

  // A second run finds nothing to do.
  const again = await command(experiment, "--mode", "in-place");
  assert.match(again.stderr, /^1 trace: 0 changed/);
  assert.deepEqual(await python.ask("traces", experiment), after);
  for (const trace of after) {
    const { status } = await reader(experiment).enrich(trace.id, enricher, { mode: "in-place" });
    assert.notEqual(status, "changed");
  }
  assert.deepEqual(await python.ask("traces", experiment), after);
});

/** The same spans in traces of other ids, for those of the recording are in another test's experiment. @param {Uint8Array} body */
function elsewhere(body) {
  const copy = body.slice();
  // A trace id is field 1 of a span, of 16 bytes; that of a link or of the resource does not begin a message of 0x0a 0x10.
  for (let at = 0; at + 18 < copy.length; at++) {
    if (copy[at] === 0x0a && copy[at + 1] === 16 && copy[at + 18] === 0x12 && copy[at + 19] === 8) copy[at + 2] ^= 0xff;
  }
  return copy;
}

test("what MLflow's own client has logged is enriched, with odd numbers and the order of keys", async () => {
  const experiment = fresh();
  const outputs = `{"zeta": 1, "log_probs": [NaN, -Infinity], "seed": 9007199254740993, "huge": 123456789012345678901234567890, "2": 0, "1": 0, "token_ids": [${IDS}], "real": 2.5}`;
  const id = await python.ask("log_trace", experiment, "root", '{"question": "why"}', outputs, { temperature: 1e-7, count: 9007199254740993n.toString(), words: ["a", "b"] }, { at: 1.5, list: [1, 2] });
  const before = await python.ask("trace", id);
  const { status, reason } = await reader(experiment).enrich(id, enricher, { mode: "in-place" });
  assert.deepEqual([status, reason], ["changed", undefined]);
  const after = await python.ask("trace", id);
  const counts = Object.keys(before.spans).map((span) => onlyAdded(before.spans[span], after.spans[span]));
  assert.deepEqual(counts.toSorted(), [0, 1]);
  const child = spansOf(after).find(({ name }) => name === "child");
  for (const kept of ["[NaN, -Infinity]", "9007199254740993", "123456789012345678901234567890", '"2": 0, "1": 0']) assert.ok(child.attributes["mlflow.spanOutputs"].includes(kept), kept);
  assert.equal(after.response, DECODED);
  assert.deepEqual([after.time, after.duration, after.state], [before.time, before.duration, before.state]);
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

test("annotations stand beside the trace, once", async () => {
  const experiment = fresh();
  const [trace, span] = [freshId(16), freshId(8)];
  isStored(await exporter(experiment).export(request({ trace, span, attributes: { "mlflow.spanOutputs": output } })));
  const before = await python.ask("trace", `tr-${trace}`);
  for (let run = 0; run < 2; run++) await command(experiment, "--mode", "annotate");
  const after = await python.ask("trace", `tr-${trace}`);
  assert.deepEqual(after.assessments, [["response_text", span, DECODED]]);
  assert.deepEqual(after.spans, before.spans);
  assert.deepEqual([after.request, after.response], [before.request, before.response]);
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

test("the folder of the command has the spans with their texts", async () => {
  const experiment = fresh();
  const [trace, span] = [freshId(16), freshId(8)];
  isStored(await exporter(experiment).export(request({ trace, span, attributes: { "mlflow.spanOutputs": output } })));
  const folder = mkdtempSync(join(tmpdir(), "token2text-"));
  const { status } = await command(experiment, "-o", folder, "--report", "none");
  assert.equal(status, 0);
  assert.deepEqual(readdirSync(folder), [`tr-${trace}.json`]);
  const body = readFileSync(join(folder, `tr-${trace}.json`), "utf8");
  assert.match(body, new RegExp(`"start_time_unix_nano": ${START},`));
  assert.equal(JSON.parse(JSON.parse(body).spans[0].attributes["mlflow.spanOutputs"]).response_text, DECODED);
  rmSync(folder, { recursive: true });
});

test("generations of a validation are the file that verl writes", async () => {
  const experiment = fresh();
  await python.ask("create_experiment", experiment);
  const tokenizer = await Tokenizer.load(join(tokenizerFolder, "tokenizer.json"));
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

test("the recipe of the package's README, as printed", async () => {
  const [{ blocks }] = readSections(readFileSync(join(PKG, "README.md"), "utf8")).filter(({ title }) => title === "MLflow");
  const folder = mkdtempSync(join(tmpdir(), "token2text-"));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(PKG, join(folder, "node_modules/token2text"));
  symlinkSync(join(PKG, "bin/token2text.js"), join(folder, "node_modules/.bin/token2text"));
  symlinkSync(join(tokenizerFolder, "tokenizer.json"), join(folder, "tokenizer.json"));
  const trace = freshId(16);
  writeFileSync(join(folder, "request.pb"), request({ trace, span: freshId(8), attributes: { "mlflow.spanOutputs": output } }));
  const here = (/** @type {string} */ text) => text.replaceAll("http://127.0.0.1:5000", server.url);
  for (const { file, text } of blocks) if (file) writeFileSync(join(folder, file), here(text));
  const commands = blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => readCommands(text));
  assert.ok(commands.length > 1);
  for (const { command, output = "" } of commands) {
    const printed = execFileSync("bash", ["-c", here(command)], { cwd: folder, encoding: "utf8", stdio: "pipe" });
    if (output) assert.equal(printed, output);
  }
  const stored = await python.ask("trace", `tr-${trace}`);
  assert.deepEqual([stored.response, stored.tags["token2text.version"]], [DECODED, "1"]);
  rmSync(folder, { recursive: true });
});

test("mistakes are told in words", async () => {
  const experiment = fresh();
  isStored(await exporter(experiment).export(request({ trace: freshId(16), span: freshId(8) })));
  const near = await command(`${experiment}y`);
  assert.equal(near.status, 2);
  assert.match(near.stderr, new RegExp(`has no experiment .*there are \`${experiment}\``));
  const closed = await token2text(["mlflow", "enrich", "--tracking-uri", "http://127.0.0.1:9", "--experiment", "x", "-t", tokenizerFolder]);
  assert.deepEqual([closed.status, closed.stderr.split(":")[1]], [2, " no server answers at http"]);
  const file = await token2text(["mlflow", "enrich", "--tracking-uri", "sqlite:///mlruns.db", "--experiment", "x", "-t", tokenizerFolder]);
  assert.match(file.stderr, /no address of a server.*mlflow server --backend-store-uri/);
  for (const [given, message] of /** @type {[any, RegExp][]} */ ([[new TextEncoder().encode("{}"), /not as JSON/], [new Uint8Array([10, 200]), /protocol buffers at byte/], ["text", /takes the bytes/]])) {
    const result = await exporter(experiment).export(given);
    assert.match(result.status === "failure" ? result.error.message : "", message);
  }
  isStored(await exporter(experiment).export(new Uint8Array()));
});
