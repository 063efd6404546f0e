/** The exporter and the reader for Weave, against W&B's in-memory trace server class, and looked at by W&B's Python client. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Tokenizer, read } from "../../pkg/node.js";
import { WeaveExporter, WeaveReader } from "../../pkg/exporters/weave-node.js";
import { failure } from "../js/support/expect.js";
import { byteIds, byteLevel, jsonBytes } from "../js/support/tokenizers.js";
import { freshId, qwen3, request } from "./support/fixtures.js";
import { runRecipe } from "./support/recipe.js";
import { WEAVE_KEY, weaveClient, weaveServer, weaveSettings } from "./support/weave.js";

/** @typedef {{ where: string[], kind: "prompt" | "response", rule: string, ids: number[], text: string }} Expected */

const CAPTURES = new URL("../fixtures/captures/", import.meta.url);
const VERL = "weave-python-verl-qwen3-ids";
const MAX_STORED_BYTES = 3.5 * 1024 * 1024;
const recorded = (/** @type {string} */ path) => readFileSync(new URL(path, CAPTURES));

const server = weaveServer();
/** @type {import("./support/python.js").PythonProgram} */
let python;
before(async () => {
  await server.start();
  python = weaveClient(server.url);
});
after(async () => {
  python.close();
  await server.dispose();
});

let serial = 0;
/** A project of the test's own. */
const ownProject = () => `team/project-${serial++}`;
const at = (/** @type {string} */ project, more = {}) => ({ url: server.url, project, apiKey: WEAVE_KEY, ...more });
const exporter = (/** @type {string} */ project, more = {}) => new WeaveExporter(at(project, more));
/** What W&B's client sees. @param {string} project @returns {Promise<any[]>} */
const seen = (project) => python.ask("calls", project);

/** The calls of a project, as the service writes them. @param {string} project @param {import("../../pkg/exporters/weave.js").CallsQuery} [query] @param {object} [options] */
async function stored(project, query, options) {
  const calls = [];
  for await (const page of new WeaveReader(at(project)).calls(query, options)) calls.push(...linesOf(page));
  return calls;
}
const linesOf = (/** @type {Uint8Array} */ page) => Buffer.from(page).toString().trim().split("\n").map((line) => JSON.parse(line));

/** Sends a body as W&B's client has sent it. @param {Uint8Array<ArrayBuffer>} body @param {string} [path] */
async function post(body, path) {
  const project = path ?? `/v2/${JSON.parse(Buffer.from(body).toString()).batch[0].project_id}/calls/complete`;
  const headers = { authorization: `Basic ${btoa(`api:${WEAVE_KEY}`)}`, "content-type": "application/json" };
  const response = await fetch(server.url + project, { method: "POST", headers, body });
  assert.equal(response.status, 200);
  return response.json();
}

/** How many ids each call of a recorded body has that is one of a model, by the place of the call. @param {string} capture */
function recordedUsage(capture) {
  /** @type {Expected[]} */
  const expected = JSON.parse(recorded(`${capture}/expected.json`).toString());
  const count = (/** @type {number} */ i, /** @type {string} */ path) => expected.find(({ where }) => where.includes(`01-calls-complete.json#/batch/${i}/${path}`))?.ids.length ?? 0;
  return (/** @type {any} */ call, /** @type {number} */ i) => {
    if (!call.op_name.includes("LLMServerClient.generate")) return undefined;
    const [prompt_tokens, completion_tokens] = [count(i, "inputs/prompt_ids"), count(i, "output/token_ids")];
    return { prompt_tokens, completion_tokens, requests: 1, total_tokens: prompt_tokens + completion_tokens };
  };
}

test("recorded calls come through the reader and the exporter as they were, and each token counts once", async () => {
  const body = recorded(`${VERL}/01-calls-complete.json`);
  const { batch } = JSON.parse(body.toString());
  const [{ project_id: project }] = batch;
  await post(new Uint8Array(body));
  const before = await stored(project);
  assert.equal(before.length, 20);
  const usageOf = recordedUsage(VERL);
  const usages = new Map(batch.map((/** @type {any} */ call, /** @type {number} */ i) => [call.id, usageOf(call, i)]));
  const withUsage = before.map((call) => (usages.get(call.id) ? { ...call, summary: { usage: { usage: usages.get(call.id) }, ...call.summary } } : call));

  for (const target of [project, ownProject()]) {
    for await (const page of new WeaveReader(at(project)).calls()) assert.deepEqual(await exporter(target).export(page), { status: "success" });
    assert.deepEqual(await stored(target), withUsage.map((call) => ({ ...call, project_id: target })));
    assert.deepEqual(await exporter(target).export(body), { status: "success" });
    assert.deepEqual(await stored(target), withUsage.map((call) => ({ ...call, project_id: target })));
  }
  assert.equal([...usages.values()].filter(Boolean).length, 7);
  const roots = before.filter(({ parent_id }) => parent_id === null);
  const { call_usage: sums } = await post(jsonBytes({ project_id: project, call_ids: roots.map(({ id }) => id), limit: 1000 }), "/calls/usage");
  for (const { id, trace_id } of roots) {
    const own = batch.filter((/** @type {any} */ call) => call.trace_id === trace_id).map((/** @type {any} */ call) => usages.get(call.id)).filter(Boolean);
    const sum = (/** @type {string} */ key) => own.reduce((/** @type {number} */ total, /** @type {any} */ usage) => total + usage[key], 0);
    assert.deepEqual([sums[id].usage.prompt_tokens, sums[id].usage.completion_tokens], [sum("prompt_tokens"), sum("completion_tokens")]);
  }
});

test("calls that are stored as ids gain their texts in place, and W&B's client reads them", async () => {
  const project = ownProject();
  assert.equal((await exporter(project).export(recorded(`${VERL}/01-calls-complete.json`))).status, "success");
  const asIds = await seen(project);
  const enricher = await qwen3();
  for await (const page of new WeaveReader(at(project)).calls({}, { pageSize: 7 })) {
    assert.deepEqual(await exporter(project).export(enricher.enrichBody(page).body), { status: "success" });
  }
  const calls = await seen(project);
  assert.equal(calls.length, 20);
  const { batch } = JSON.parse(recorded(`${VERL}/01-calls-complete.json`).toString());
  /** @type {Expected[]} */
  const expected = JSON.parse(recorded(`${VERL}/expected.json`).toString());
  let texts = 0;
  for (const { where, kind, rule, ids, text } of expected.filter(({ rule }) => rule === "verl")) {
    for (const address of where.filter((address) => address.startsWith("01-"))) {
      const [, i, side, key] = address.split("#/batch/")[1].match(/^(\d+)\/(inputs|output)\/(\w+)$/) ?? [];
      const call = calls.find(({ id }) => id === batch[Number(i)].id);
      assert.deepEqual(call[side][key], ids);
      if (side === "inputs" && "prompt_ids" in call.output) continue;
      assert.equal(call.output[`${kind}_text`], text, `${rule} ${address}`);
      texts++;
    }
  }
  assert.equal(texts, 20);
  // All else is as it was: who is in whom, in which order, when.
  const withoutTexts = (/** @type {any} */ value) => JSON.parse(JSON.stringify(value, (key, item) => (/^(prompt|response)_text$/.test(key) ? undefined : item)));
  assert.deepEqual(withoutTexts(calls), asIds);
  const parents = calls.filter(({ children }) => children.length > 0);
  assert.deepEqual(parents.map(({ op, children }) => [op, children.length]), [["ToolAgentLoop.run", 8], ["ToolAgentLoop.run", 8], ["SingleTurnAgentLoop.run", 1]]);
});

test("spans of other formats become calls that W&B's client reads", async () => {
  const project = ownProject();
  assert.deepEqual(await exporter(project).export(recorded("trackio-verl-qwen3-ids/01-bulk-log.json")), { status: "success" });
  const calls = await stored(project);
  const generated = calls.filter(({ op_name }) => op_name === "LLMServerClient.generate");
  assert.deepEqual([calls.length, generated.length], [20, 7]);
  for (const { inputs, output, summary } of generated) {
    const [prompt_tokens, completion_tokens] = [inputs.prompt_ids.length, output.token_ids.length];
    assert.deepEqual(summary.usage, { usage: { prompt_tokens, completion_tokens, requests: 1, total_tokens: prompt_tokens + completion_tokens } });
  }
  for (const { op_name, summary } of calls) assert.equal("usage" in summary, op_name === "LLMServerClient.generate", op_name);

  const other = ownProject();
  const span = { traceId: "ab".repeat(16), startUnixNano: "1795959821263328487", endUnixNano: "1795959821263329999", status: /** @type {const} */ ("ok") };
  const inner = { inputs: '{"prompt_ids":[1,2],"messages":[]}', output: '{"response_text":"Hi \\ud800","token_ids":[3,4,5],"p":NaN}', model: "Qwen/Qwen3-8B", step: 4, sampleIndex: 7 };
  const spans = [
    { ...span, spanId: "cd".repeat(8), parentId: "ef".repeat(8), name: "generate", ...inner },
    { ...span, spanId: "ef".repeat(8), name: "run", output: '{"prompt_ids":[1,2],"response_ids":[3,4,5,9],"response_mask":[1,1,1,0]}', attributes: '{"wandb.display_name":"rollout 7"}', events: '[{"name":"first token"}]' },
    { ...span, spanId: "12".repeat(8), parentId: "ef".repeat(8), name: "tool", status: /** @type {const} */ ("error"), error: "no such city" },
  ];
  const given = structuredClone(spans);
  for (let times = 0; times < 2; times++) assert.deepEqual(await exporter(other).export(spans), { status: "success", replaced: { characters: 1, numbers: 1 } });
  assert.deepEqual(spans, given);
  const byOp = Object.fromEntries((await seen(other)).map((call) => [call.op, call]));
  assert.deepEqual(Object.keys(byOp).sort(), ["generate", "run", "tool"]);
  const { generate, run, tool } = byOp;
  assert.deepEqual([generate.id, generate.trace_id, generate.parent_id, generate.started_at, generate.ended_at], ["cd".repeat(8), "ab".repeat(16), run.id, "2026-11-29T13:43:41.263328+00:00", "2026-11-29T13:43:41.263329+00:00"]);
  assert.deepEqual([generate.inputs.prompt_ids, generate.output], [[1, 2], { response_text: "Hi \ufffd", token_ids: [3, 4, 5], p: null }]);
  assert.deepEqual([generate.attributes.step, generate.attributes.sample_index, generate.attributes.model], [4, 7, "Qwen/Qwen3-8B"]);
  assert.deepEqual(generate.summary.usage, { "Qwen/Qwen3-8B": { prompt_tokens: 2, completion_tokens: 3, requests: 1, total_tokens: 5 } });
  assert.deepEqual([run.display_name, run.attributes.events, run.children.toSorted(), "usage" in run.summary], ["rollout 7", [{ name: "first token" }], [tool.id, generate.id].sort(), false]);
  assert.deepEqual([tool.exception, tool.summary.weave.status], ["no such city", "error"]);
});

test("sent again, a call is replaced", async () => {
  const project = ownProject();
  const span = (/** @type {string} */ text) => ({ traceId: "trace of mine", spanId: "1", name: "generate", output: JSON.stringify({ text }), startUnixNano: "1795959821263328487" });
  for (const text of ["first", "second"]) assert.deepEqual(await exporter(project).export([span(text), { ...span(text), traceId: "another" }]), { status: "success" });
  const calls = await stored(project);
  assert.deepEqual(calls.map(({ output }) => output), [{ text: "second" }, { text: "second" }]);
  assert.notEqual(calls[0].id, calls[1].id);
});

test("a call that is larger than a row keeps its text, and loses its numbers", async () => {
  const project = ownProject();
  const ids = Array.from({ length: 150_000 }, (_, i) => 100_000 + (i % 50_000));
  const text = "日本語 ".repeat(20_000);
  const call = (/** @type {string} */ id, /** @type {object} */ output, inputs = { prompt_ids: ids }) => ({
    ...{ project_id: project, id: id.repeat(16), trace_id: id.repeat(32), op_name: "generate", started_at: "2026-11-29T13:43:41.263328Z", ended_at: "2026-11-29T13:43:42Z" },
    ...{ attributes: {}, inputs, output, summary: {} },
  });
  const logprobs = ids.map((id) => -id / 7e5);
  const batch = [
    call("a", { token_ids: ids, log_probs: logprobs, response_text: text }),
    call("b", { token_ids: ids, response_text: text }),
    call("c", { token_ids: [...ids, ...ids], response_text: "é".repeat(700_000), finish: "stop" }),
    call("d", Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`key${i}`, i])), { prompt_ids: [1] }),
    call("e", { token_ids: [1, 2] }, { prompt_ids: [1] }),
  ];
  const result = await exporter(project).export(jsonBytes({ batch }));
  assert.deepEqual(result.cut, [
    { index: 0, callId: "a".repeat(16), paths: ["/output/log_probs"] },
    { index: 2, callId: "c".repeat(16), paths: ["/output/token_ids", "/inputs/prompt_ids", "/output/response_text"] },
  ]);
  assert.deepEqual(result.rejected?.map(({ index, callId, error }) => [index, callId, error.code]), [[3, "d".repeat(16), "limit_exceeded"]]);
  const rows = await stored(project);
  const calls = Object.fromEntries(rows.map((call) => [call.id[0], call]));
  assert.deepEqual(Object.keys(calls).sort(), ["a", "b", "c", "e"]);
  assert.deepEqual(calls.a.output, { token_ids: ids, log_probs: "<150000 numbers left out: larger than Weave stores>", response_text: text });
  assert.deepEqual([calls.b.inputs, calls.b.output], [batch[1].inputs, batch[1].output]);
  assert.match(calls.c.output.response_text, /^é{500000,699999} <\d+ characters left out: larger than Weave stores>$/);
  assert.equal(calls.c.output.finish, "stop");
  assert.equal(calls.c.summary.usage.usage.completion_tokens, 300_000);
  const bytes = await python.ask("stored_bytes", rows);
  assert.ok(bytes.every((/** @type {number} */ size) => size <= MAX_STORED_BYTES), `${bytes} bytes`);
  // No more was taken than had to be.
  assert.ok(bytes[2] > MAX_STORED_BYTES - 10_000, `${bytes} bytes`);
});

test("calls that the service does not understand are set aside, and the others stored", async () => {
  const project = ownProject();
  const deep = `${"[".repeat(400)}${"]".repeat(400)}`;
  const call = (/** @type {number} */ i, more = "") => `{"project_id":"elsewhere/x","id":"call-${1000 + i}-of-the-test","trace_id":"t","op_name":"op","started_at":"2026-11-29T13:43:41Z","ended_at":"2026-11-29T13:43:42Z","attributes":{},"inputs":{"i":${i}},"output":NaN,"summary":{}${more}}`;
  const calls = Array.from({ length: 40 }, (_, i) => call(i));
  calls[7] = call(7, `,"inputs":${deep}`);
  calls[8] = call(8, `,"started_at":"yesterday"`);
  calls[30] = call(30, `,"ended_at":null`);
  calls[31] = '{"op_name":"half"}';
  const result = await exporter(project).export(new TextEncoder().encode(`{"batch":[${calls.join(",")}]}`));
  assert.equal(result.status, "failure");
  assert.deepEqual(result.rejected?.map(({ index, error }) => [index, error.code]), [[7, "refused"], [8, "refused"], [30, "invalid_body"], [31, "invalid_body"]]);
  assert.match(result.rejected?.[1].error.message ?? "", /status 422: body\.batch\.0\.started_at: Input should be a valid datetime/);
  assert.match(result.error.message, /^4 of 40 calls not stored; call 7: /);
  assert.deepEqual(result.replaced, { characters: 0, numbers: 39 });
  const expected = Array.from({ length: 40 }, (_, i) => i).filter((i) => ![7, 8, 30, 31].includes(i));
  assert.deepEqual((await stored(project)).map(({ inputs, output }) => [inputs.i, output]), expected.map((i) => [i, null]));
});

test("recorded calls of other clients, and their halves", async () => {
  const project = ownProject();
  const capture = "weave-js-agent-llama3_1";
  const halves = ["01", "02", "03", "04"].map((number) => JSON.parse(recorded(`${capture}/${number}-upsert-batch.json`).toString()).batch).flat();
  assert.deepEqual(await exporter(project).export(jsonBytes({ batch: halves })), { status: "success", replaced: { characters: 1, numbers: 0 } });
  const known = linesOf(recorded(`${capture}/05-stream-query.jsonl`));
  const same = (/** @type {any} */ { project_id: _, wb_user_id: __, summary, ...call }) => ({ ...call, summary: { ...summary, usage: undefined } });
  const whole = JSON.parse(JSON.stringify(known.map(same)).replaceAll(/\\ud83d(?!\\ud)/g, "\\ufffd"));
  const byId = (/** @type {any[]} */ calls) => JSON.parse(JSON.stringify(calls)).sort((/** @type {any} */ a, /** @type {any} */ b) => (a.id < b.id ? -1 : 1));
  assert.deepEqual(byId((await stored(project)).map(same)), byId(whole));
  const broken = await exporter(ownProject()).export(recorded(`${capture}/01-upsert-batch.json`));
  assert.match(broken.rejected?.[0].error.message ?? "", /its end is not in the same body/);

  const edge = ownProject();
  assert.deepEqual(await exporter(edge).export(recorded("weave-python-synthetic-edge/01-calls-complete.json")), { status: "success", replaced: { characters: 2, numbers: 1 } });
  assert.deepEqual((await stored(edge)).map(({ id }) => id), ["c1", "c2", "c3", "c4", "c5"]);
});

test("the reader finds calls by trace, operation and time, page by page", async () => {
  const project = ownProject();
  const span = (/** @type {number} */ i) => ({ traceId: `trace-${i % 2}-of-the-test`, spanId: `span-${100 + i}-of-the-test`, name: i < 5 ? "first" : "second", startUnixNano: `179595982126332${i < 8 ? "8" : "9"}000`, inputs: JSON.stringify({ i }) });
  const spans = Array.from({ length: 11 }, (_, i) => span(i));
  assert.deepEqual(await exporter(project).export(spans.toReversed()), { status: "success" });
  const numbers = async (/** @type {import("../../pkg/exporters/weave.js").CallsQuery} */ query, options = {}) => (await stored(project, query, options)).map(({ inputs }) => inputs.i);
  const all = spans.map((_, i) => i);
  for (const pageSize of [1, 3, 4, 11, 100]) assert.deepEqual(await numbers({}, { pageSize }), all);
  assert.deepEqual(await numbers({ traceIds: ["trace-1-of-the-test"] }, { pageSize: 2 }), [1, 3, 5, 7, 9]);
  assert.deepEqual(await numbers({ ops: ["first"] }), [0, 1, 2, 3, 4]);
  assert.deepEqual(await numbers({ from: "2026-11-29T13:43:41.263329Z" }), [8, 9, 10]);
  assert.deepEqual(await numbers({ to: "2026-11-29T13:43:41.263329Z", ops: ["second"] }, { pageSize: 2 }), [5, 6, 7]);
  assert.deepEqual(await numbers({ from: new Date("2026-11-29T13:43:42Z") }), []);
  assert.deepEqual(await numbers({ callIds: [span(3).spanId], rootsOnly: true }), [3]);
  assert.deepEqual(await stored("team/nothing-there"), []);
  for await (const page of new WeaveReader(at(project)).calls({ ops: ["first"] })) assert.equal((await read(page)).length, 5);
  await assert.rejects(new WeaveReader(at(project, { apiKey: "no" })).calls().next(), failure("refused", /401.*apiKey/));
});

test("generations are logged as verl logs them to W&B", async () => {
  const project = ownProject();
  const tokenizer = Tokenizer.fromBytes(jsonBytes(byteLevel()));
  const ours = exporter(project);
  /** @type {any} */
  const samples = [["What?", "That.", 1.5], [byteIds("ids"), Uint32Array.from([...byteIds("in"), 257]), null], ["a", "b\ud800", NaN]];
  for (let times = 0; times < 2; times++) {
    assert.deepEqual(await ours.logGenerations(samples, { step: 3, tokenizer }), { status: "success", replaced: { characters: 1, numbers: 1 } });
  }
  assert.deepEqual(await ours.logGenerations([["x", "y", 0]], { step: 4 }), { status: "success" });
  assert.deepEqual(await ours.logGenerations([]), { status: "success" });
  const calls = await seen(project);
  assert.deepEqual(calls.map(({ op, inputs, output, attributes }) => [op, inputs, output, attributes.source]), [
    ["val/generations", { step: 3 }, { step: 3, input_1: "What?", output_1: "That.", score_1: 1.5, input_2: "ids", output_2: "in", score_2: null, input_3: "a", output_3: "b\ufffd", score_3: null }, "validation_generations"],
    ["val/generations", { step: 4 }, { step: 4, input_1: "x", output_1: "y", score_1: 0 }, "validation_generations"],
  ]);
  const long = Array.from({ length: 5 }, (_, i) => /** @type {[string, string, number]} */ ([`${i}`, "y".repeat(1_000_000), i]));
  assert.deepEqual(await ours.logGenerations(long, { step: 5 }), { status: "success" });
  const rows = (await stored(project)).filter(({ inputs }) => inputs.step === 5).map(({ output }) => output);
  assert.deepEqual(rows.flatMap((row) => Object.keys(row).filter((key) => key.startsWith("score_"))).sort(), long.map((_, i) => `score_${i + 1}`));
  const withoutTokenizer = await ours.logGenerations([[[1], [2], 1]]);
  assert.match(withoutTokenizer.status === "failure" ? withoutTokenizer.error.message : "", /`tokenizer`/);
});

test("the recipe does what it says", async () => {
  const attributes = { "mlflow.spanOutputs": JSON.stringify({ token_ids: byteIds("on its way") }) };
  const commands = await runRecipe("Weave", {
    files: { "tokenizer.json": jsonBytes(byteLevel()), "request.pb": request({ span: freshId(8), trace: freshId(16), attributes }) },
    env: weaveSettings(server.url),
  });
  assert.equal(commands, 1);
  const calls = await stored("my-team/rollouts");
  assert.deepEqual(calls.map(({ output, summary }) => [output.response_text, summary.usage.usage.completion_tokens]), [["on its way", 10]]);
});
