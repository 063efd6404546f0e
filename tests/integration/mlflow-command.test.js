/** `token2text mlflow enrich` against a real server of MLflow. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readCommands, readSections } from "../packaging/support/readme.js";
import { CLI, token2text } from "../js/support/cli.js";
import { START, freshId, recorded, recordedJson, request, tokenizerFolder } from "./support/fixtures.js";
import { DECODED, IDS, command, enricher, exporter, fresh, isStored, onlyAdded, output, python, reader, server, spansOf, value } from "./support/mlflow-tests.js";

const PKG = fileURLToPath(new URL("../../pkg", import.meta.url));

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
  for (const [given, message] of /** @type {[any, RegExp][]} */ ([[new TextEncoder().encode("{"), /not JSON/], [new Uint8Array([10, 200]), /protocol buffers at byte/], ["text", /takes the bytes/]])) {
    const result = await exporter(experiment).export(given);
    assert.match(result.status === "failure" ? result.error.message : "", message);
  }
  isStored(await exporter(experiment).export(new Uint8Array()));
});

/** Runs the command until it has told of some traces, then something happens. @param {string} experiment @param {(child: import("node:child_process").ChildProcess) => unknown} happens */
async function disturbed(experiment, happens) {
  const child = spawn(process.execPath, [CLI, "mlflow", "enrich", "--tracking-uri", server.url, "--experiment", experiment, "-t", tokenizerFolder, "--mode", "in-place"]);
  let [lines, stderr] = [0, ""];
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const before = lines;
    lines += chunk.split("\n").length - 1;
    if (before < 5 && lines >= 5) happens(child);
  });
  const [status] = await once(child, "close");
  return { status, lines, stderr };
}

/** @param {string} experiment @param {number} count */
async function fill(experiment, count) {
  const spans = Array.from({ length: count }, (_, i) => ({ trace: freshId(16), span: freshId(8), start: START + BigInt(i) * 1_000_000n, attributes: { "mlflow.spanOutputs": output } }));
  isStored(await exporter(experiment).export(request(...spans)));
}

/** @param {string} experiment */
const texts = async (experiment) => (await python.ask("traces", experiment)).map((/** @type {any} */ trace) => [value(spansOf(trace)[0], "mlflow.spanOutputs").response_text, trace.tags["token2text.version"]]);

test("Ctrl-C ends it with word of what was done, and the same command goes on", async () => {
  const experiment = fresh();
  await fill(experiment, 30);
  const { status, lines, stderr } = await disturbed(experiment, (child) => child.kill("SIGINT"));
  assert.equal(status, 130);
  assert.ok(lines < 30);
  assert.match(stderr, new RegExp(`^${lines} traces: ${lines} changed, in ${lines} spans; ${lines} previews set\n`));
  const again = await command(experiment, "--mode", "in-place");
  // The one that it was at may be done, but for the word of it.
  const [, left] = again.stderr.match(/^(\d+) traces: \1 changed/) ?? [];
  assert.ok([30 - lines, 29 - lines].includes(Number(left)), again.stderr);
  assert.deepEqual(await texts(experiment), Array(30).fill([DECODED, "1"]));
  const third = await command(experiment, "--mode", "in-place");
  assert.deepEqual([third.status, third.stderr], [0, "no traces that are not done\n"]);
});

test("a server that crashes and comes back is waited for", async () => {
  const experiment = fresh();
  await fill(experiment, 30);
  const back = { done: Promise.resolve() };
  const { status, stderr } = await disturbed(experiment, () => (back.done = server.stop("SIGKILL").then(() => server.start()).then(() => {})));
  await back.done;
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^30 traces: 30 changed/);
  assert.deepEqual(await texts(experiment), Array(30).fill([DECODED, "1"]));
});

test("traces of all kinds stand beside each other: what cannot be done is told and stops nothing", async () => {
  const experiment = fresh();
  const experiment_id = await python.ask("create_experiment", experiment);
  const post = (/** @type {string} */ trace_id) => fetch(`${server.url}/api/3.0/mlflow/traces`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ trace: { trace_info: { trace_id, trace_location: { type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id } }, request_time: "2026-11-29T13:43:41.228Z", state: "OK" } } }),
  });
  assert.equal((await post("without spans ü")).status, 200);
  const [stored, file, open, done, plain] = Array.from({ length: 5 }, () => freshId(16));
  const span = (/** @type {string} */ trace, attributes = { "mlflow.spanOutputs": output }) => ({ trace, span: freshId(8), attributes });
  isStored(await exporter(experiment).export(request(span(stored), span(done), span(plain, { "mlflow.spanOutputs": '{"text": "no ids"}' }), { ...span(open), parent: freshId(8) })));
  isStored(await exporter(experiment, { route: "artifact" }).export(request(span(file))));
  await reader(experiment).enrich(`tr-${done}`, enricher, { mode: "in-place" });

  const first = await command(experiment, "--mode", "in-place");
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stderr, /^5 traces: 2 changed, in 2 spans; 2 previews set\n/);
  assert.match(first.stderr, new RegExp(`left out, in-progress: tr-${open} is not finished`));
  assert.match(first.stderr, /left out, no-spans: the server has no spans of without spans ü\n/);
  assert.match(first.stderr, /3 records: 2 texts written; 6 token ids\n1 record without token ids\n/);
  assert.equal((await command(experiment, "--mode", "in-place", "--strict")).status, 1);
  for (const trace of [stored, file, done]) assert.equal((await python.ask("trace", `tr-${trace}`)).response, DECODED);
});

test("the tokenizer of another model is told of, and one that is not there", async () => {
  const experiment = fresh();
  const ids = JSON.stringify({ token_ids: Array.from({ length: 100 }, (_, i) => 1000 * i) });
  isStored(await exporter(experiment).export(request({ trace: freshId(16), span: freshId(8), attributes: { "mlflow.spanOutputs": ids } })));
  const command = ["mlflow", "enrich", "--tracking-uri", server.url, "--experiment", experiment, "-t"];
  const { stderr } = await token2text([...command, fileURLToPath(new URL("../../.cache/tokenizers/llama2", import.meta.url))]);
  assert.match(stderr, /\nwarning, tokenizer_mismatch: tr-[\da-f]+ .*: 68 of 100 ids are unknown to the tokenizer/);
  const missing = await token2text([...command, "/nowhere/tokenizer.json"]);
  assert.deepEqual([missing.status, missing.stderr.split(":")[1]], [2, " cannot read /nowhere/tokenizer.json"]);
});
