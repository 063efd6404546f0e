/** The exporter and the reader for Trackio against a real server; what is stored is told by Trackio's own package. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { Tokenizer } from "../../pkg/node.js";
import { canonicalName, refusalOfProject } from "../../pkg/exporters/trackio-names.js";
import { TrackioExporter, TrackioReader, withRetry } from "../../pkg/exporters/trackio.js";
import { failure } from "../js/support/expect.js";
import { byteIds, byteLevel, jsonBytes } from "../js/support/tokenizers.js";
import { Trackio } from "./support/trackio.js";

const CAPTURES = new URL("../fixtures/captures/", import.meta.url);
const bodies = readdirSync(CAPTURES)
  .filter((name) => name.startsWith("trackio-"))
  .map((name) => ({ name, body: readFileSync(new URL(`${name}/01-bulk-log.json`, CAPTURES)) }));

const server = new Trackio();
/** Another one, for what is written without token2text. */
const reference = new Trackio();
before(() => Promise.all([server.start(), reference.start()]));
after(() => Promise.all([server.dispose(), reference.dispose()]));

let serial = 0;
let project = "";
afterEach(() => serial++);
/** A project of the test's own. */
function ownProject() {
  project = `project-${serial}`;
  return project;
}
const exporter = (more = {}) => new TrackioExporter({ url: server.url, writeToken: server.writeToken, ...more });

/** The storage without what depends on the moment. @param {Trackio} trackio */
async function stored(trackio) {
  return JSON.parse(JSON.stringify(await trackio.ask("stored"), (key, value) => (["timestamp", "_Created", "_Username"].includes(key) ? undefined : value)));
}

/** @param {Record<string, unknown>} [more] */
function entry(id = "a", more = {}) {
  const trace = { _type: "trackio.trace", messages: [{ role: "user", content: `ask ${id}` }], metadata: { inputs: { prompt_ids: byteIds(id) } }, spans: [] };
  return { project, run: "r", run_id: "0123", step: 1, config: null, log_id: id, metrics: { "rollout_trace/generate": [trace] }, ...more };
}
const bodyOf = (/** @type {unknown[]} */ ...logs) => jsonBytes({ hf_token: null, logs });
const traceIds = async () => (await stored(server))[project].runs.flatMap((/** @type {any} */ run) => run.traces.map((/** @type {any} */ trace) => trace.id)).sort();
const idOf = (/** @type {string} */ logId) => `0123:${logId}:rollout_trace/generate:0`;

test("recorded bodies are stored as Trackio's client stores them", async () => {
  assert.ok(bodies.length >= 2);
  for (const { name, body } of bodies) {
    const given = Buffer.from(body);
    const result = await exporter().export(given);
    assert.deepEqual(given, body, "the body was changed");
    const replaced = name === "trackio-synthetic-edge" ? { replaced: { characters: 1, integers: 1 } } : {};
    assert.deepEqual(result, { status: "success", ...replaced }, name);
    await reference.ask("post", body);
  }
  assert.deepEqual(await stored(server), await stored(reference));
  for (const { body } of bodies) assert.equal((await exporter().export(body)).status, "success");
  assert.deepEqual(await stored(server), await stored(reference), "sent twice is stored twice");
});

test("names that Trackio's client refuses are refused, and no others", async () => {
  const names = ["plain", "my.model", "registry-x", "re.gistry-x", "xregistry-", "registry_", "日本語", "_traces", "x_traces", "x.traces", "x_tra ces", "x_system", "x_configs", "x_artifacts"];
  names.push("x_artifact_versions", "x_artifact_aliases", "x_run_artifact_links", "x_external_run_artifact_links", "x_Traces", "", "...", "a b", "ⅷ²", "é́", "x_metrics");
  for (const { project, allowed, canonical } of await server.ask("names", names)) {
    assert.equal(refusalOfProject(project) === undefined, allowed, project);
    assert.equal(canonicalName(project), canonical, project);
  }
  assert.throws(() => exporter({ project: "x_traces" }), failure("invalid_options", /_traces/));
  assert.throws(() => exporter({ config: { _x: 1 } }), failure("invalid_options", /_x/));
  assert.throws(() => new TrackioExporter({ url: "nowhere" }), failure("invalid_options", /`url`/));
});

test("metrics and generations are stored as Trackio's client stores them", async () => {
  ownProject();
  const config = { framework: "verl", depth: { a: 1 } };
  const metrics = { loss: 0.5, step: 7, __own: 1, text: "é", "val/list": [1, 2], bad: { float: "nan" }, high: { float: "inf" } };
  const samples = [["What?", "That.", 1.5], ["<b>", "", null], ["half", "score", { float: "nan" }]];
  const calls = { project, run: "r", config, logs: [{ metrics, step: 3 }, { generations: samples, step: 3 }, { metrics: { loss: 0.25 }, step: null }] };
  await reference.ask("client", calls);

  const tokenizer = Tokenizer.fromBytes(jsonBytes(byteLevel()));
  const ours = exporter({ project, run: "r", config });
  ours.log({ ...metrics, bad: NaN, high: Infinity }, { step: 3 });
  assert.deepEqual(await ours.finish(), { status: "success" });
  const asIds = [[byteIds("What?"), Uint32Array.from([...byteIds("That."), 257]), 1.5], samples[1], ["half", "score", NaN]];
  assert.deepEqual(await ours.logGenerations(/** @type {any} */ (asIds), { step: 3, tokenizer }), { status: "success" });
  assert.deepEqual(await ours.logGenerations(/** @type {any} */ (asIds), { step: 3, tokenizer }), { status: "success" });
  ours.log({ loss: 0.25 });
  assert.deepEqual(await ours.finish(), { status: "success" });

  const withoutIds = (/** @type {any} */ { runs, configs }) => JSON.parse(JSON.stringify({ runs, configs: Object.values(configs) }, (key, value) => (/^(id|run_id|log_id)$/.test(key) ? undefined : value)));
  assert.deepEqual(withoutIds((await stored(server))[project]), withoutIds((await stored(reference))[project]));
  assert.deepEqual(Object.keys((await stored(server))[project].configs), [ours.runId]);
});

test("finish sends what was logged, and nothing when nothing was", async () => {
  ownProject();
  /** @type {string[]} */
  const requests = [];
  const fetch = (/** @type {any} */ url, /** @type {any} */ init) => (requests.push(String(url)), globalThis.fetch(url, init));
  const ours = exporter({ project, run: "r", fetch });
  assert.deepEqual(await ours.finish(), { status: "success" });
  assert.deepEqual(requests, []);
  for (let i = 0; i < 5; i++) ours.log({ i }, { step: i });
  assert.deepEqual(await ours.finish(), { status: "success" });
  assert.deepEqual(await ours.finish(), { status: "success" });
  assert.equal(requests.length, 1);
  assert.deepEqual((await stored(server))[project].runs[0].logs.map((/** @type {any} */ log) => [log.step, log.i]), [0, 1, 2, 3, 4].map((i) => [i, i]));
});

test("what is logged is sent without finish", async () => {
  ownProject();
  const sent = new Promise((resolve) => {
    const fetch = async (/** @type {any} */ url, /** @type {any} */ init) => {
      const response = await globalThis.fetch(url, init);
      resolve(undefined);
      return response;
    };
    exporter({ project, run: "r", fetch }).log({ loss: 1 });
  });
  await sent;
  assert.equal((await stored(server))[project].runs[0].logs[0].loss, 1);
});

test("what cannot be logged is told by finish, and the rest is logged", async () => {
  ownProject();
  const ours = exporter({ project, run: "r" });
  /** @type {any} */
  const circular = {};
  circular.self = circular;
  ours.log({ a: 1 }, { step: 0 });
  ours.log({ a: 2 }, { step: 0.5 });
  ours.log(circular);
  ours.log(/** @type {any} */ (undefined));
  ours.log({ a: 5, big: 2n ** 70n, half: "\ud800" }, { step: 4 });
  const result = await ours.finish();
  assert.equal(result.status, "failure");
  assert.deepEqual(result.rejected?.map(({ index }) => index), [1, 2, 3]);
  assert.match(result.error.message, /3 of 5 .*`step` must be an integer, not 0.5/);
  assert.deepEqual((await stored(server))[project].runs[0].logs.map((/** @type {any} */ log) => [log.a, log.big, log.half]), [[1, undefined, undefined], [5, String(2n ** 70n), "�"]]);
  assert.equal((await exporter().logGenerations([["a", "b", 1]])).status, "failure");
  const withoutTokenizer = await ours.logGenerations([[[1], [2], 1]]);
  assert.match(withoutTokenizer.status === "failure" ? withoutTokenizer.error.message : "", /`tokenizer`/);
});

test("bad entries are set aside and the others stored", async () => {
  ownProject();
  const deep = (/** @type {number} */ depth) => entry("deep", { metrics: JSON.parse(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`) });
  const { project: _, ...noProject } = entry("no-project");
  const bad = [
    deep(300),
    deep(1500),
    noProject,
    entry("m", { metrics: [] }),
    entry("s", { step: "5" }),
    entry("f", { step: 1.5 }),
    entry("l", { log_id: ["x"] }),
    entry("p", { project: `${project}_traces` }),
    entry("n", { project: 5 }),
    entry("b", { run_id: { a: 1 } }),
  ];
  const logs = Array.from({ length: 60 }, (_, i) => entry(`good-${i}`));
  bad.forEach((one, i) => logs.splice(1 + 5 * i, 0, /** @type {any} */ (one)));
  const result = await exporter().export(bodyOf(...logs));
  assert.equal(result.status, "failure");
  assert.deepEqual(result.rejected?.map(({ index }) => index), bad.map((_, i) => 1 + 5 * i));
  assert.match(result.error.message, /^10 of 70 entries not stored; entry 1: /);
  assert.deepEqual(await traceIds(), Array.from({ length: 60 }, (_, i) => idOf(`good-${i}`)).sort());
});

test("entries keep their spelling, in every form of body", async () => {
  ownProject();
  const metadata = '{"big":18446744073709551615,"text":"a \\"}],[{\\" \\u0000 \\\\","one":1.0,"nan":NaN,"few":-1E-5}';
  const log = `{ "project":"${project}", "run":"r","run_id":"0123","step":1,"config":null,"log_id":"a","metrics":{"t":{"_type":"trackio.trace","messages":[],"metadata":${metadata},"spans":[]}}}`;
  const twice = log.replace('"a"', '"b"').replace('"metrics"', ' "more" : [ "]" ] , "metrics"');
  const forms = [`{"hf_token":null,"logs":[${log},${twice}]}`, `{"args":[],"kwargs":{"hf_token":null,"logs":[ ${log} , ${twice} ]}}`, `\ufeff{"logs":[\n${log},\n${twice}\n]}`];
  for (const form of forms) {
    /** @type {string[]} */
    const sent = [];
    const fetch = async (/** @type {any} */ url, /** @type {any} */ init) => (sent.push(Buffer.from(init.body).toString()), globalThis.fetch(url, init));
    assert.deepEqual(await exporter({ fetch }).export(new TextEncoder().encode(form)), { status: "success" });
    assert.deepEqual(sent, [`{"hf_token":null,"logs":[${log},${twice}]}`]);
  }
  const [first, second] = (await stored(server))[project].runs[0].traces.map((/** @type {any} */ trace) => trace.metadata);
  assert.deepEqual(first, { big: 18446744073709551615, text: 'a "}],[{" \0 \\', one: 1, nan: { float: "nan" }, few: -1e-5 });
  assert.deepEqual(second, first);
});

test("spans become traces with the spans in them, as often as they are sent", async () => {
  ownProject();
  const span = (/** @type {string} */ spanId, /** @type {object} */ more) => ({ traceId: "aa".repeat(16), spanId: spanId.repeat(16), name: spanId, status: /** @type {const} */ ("ok"), step: 4, ...more });
  const generate = { name: "LLMServerClient.generate", model: "Qwen/Qwen3-8B", sampleIndex: 3, inputs: '{"prompt_ids":[1,2]}', output: '{"response_text":"Hi \\ud800","token_ids":[3,NaN]}' };
  const spans = [
    span("1", { name: "ToolAgentLoop.run", startUnixNano: "1795959821263328487", endUnixNano: "1795959822263328487", inputs: "{}", output: '{"response_ids":[5]}' }),
    span("2", { parentId: "1".repeat(16), ...generate }),
    { ...span("3", generate), traceId: "bb".repeat(16) },
  ];
  const given = structuredClone(spans);
  const ours = exporter({ project, run: "r", runId: "0123" });
  for (let times = 0; times < 2; times++) assert.equal((await ours.export(spans)).status, "success");
  assert.deepEqual(spans, given);
  const [run] = (await stored(server))[project].runs;
  const traces = run.traces.toSorted((/** @type {any} */ a, /** @type {any} */ b) => a.key.localeCompare(b.key));
  assert.deepEqual([run.id, run.name, traces.length], ["0123", "r", 2]);
  const [flat, tree] = traces;
  assert.deepEqual([flat.key, flat.step, flat.index, flat.spans], ["rollout_trace/LLMServerClient.generate", 4, 0, []]);
  assert.deepEqual([flat.metadata.op, flat.metadata.sample_index, flat.metadata.inputs], ["LLMServerClient.generate", 3, { prompt_ids: [1, 2] }]);
  assert.equal(flat.metadata.output.response_text, "Hi \ufffd");
  assert.deepEqual([tree.key, tree.metadata.output], ["rollout_trace/ToolAgentLoop.run", { response_ids: [5] }]);
  const [outer, inner] = tree.spans;
  assert.equal(inner.parent_id, outer.id);
  assert.deepEqual([inner.name, inner.model, inner.input], ["LLMServerClient.generate", "Qwen/Qwen3-8B", { prompt_ids: [1, 2] }]);
});

test("an entry without a log_id is stored once, and one like it beside it too", async () => {
  ownProject();
  const body = bodyOf(entry("x", { log_id: null }), entry("x", { log_id: null }), { ...entry("y"), log_id: undefined });
  for (let times = 0; times < 2; times++) assert.deepEqual(await exporter().export(body), { status: "success" });
  assert.equal((await traceIds()).length, 3);
  assert.equal((await stored(server))[project].runs[0].logs.length, 3);
});

test("bytes that are no UTF-8 cost no entry", async () => {
  ownProject();
  const body = Buffer.from(bodyOf(entry("a", { metrics: { text: "x@y" } }), entry("b", { metrics: { text: "é" } })));
  body[body.indexOf("@")] = 0xff;
  assert.deepEqual(await exporter().export(body), { status: "success", replaced: { characters: 1, integers: 0 } });
  assert.deepEqual((await stored(server))[project].runs[0].logs.map((/** @type {any} */ log) => log.text), ["x\ufffdy", "é"]);
});

test("a missing token, a body that is none and a server that is none are told, and nothing throws", async () => {
  ownProject();
  const body = bodyOf(entry("a"), entry("b"));
  /** @type {[TrackioExporter, any, string, RegExp][]} */
  const table = [
    [new TrackioExporter({ url: server.url }), body, "failure", /A write_token is required/],
    [new TrackioExporter({ url: `${server.url}?write_token=wrong` }), body, "failure", /A write_token is required/],
    [exporter(), "text", "failure", /takes the bytes/],
    [exporter(), new Uint8Array(), "failure", /no JSON/],
    [exporter(), [{ name: "a" }], "failure", /`project`/],
    [exporter({ project, run: "r" }), [5], "failure", /not a span/],
    [exporter(), jsonBytes({ logs: 5 }), "failure", /an array/],
    [exporter(), jsonBytes({}), "failure", /`logs`/],
    [exporter(), body.slice(0, -9), "failure", /no JSON/],
    [new TrackioExporter({ url: `${server.url}/nowhere`, writeToken: "t" }), body, "failure", /status 404/],
    [exporter({ url: "http://127.0.0.1:1" }), body, "retryable", /127.0.0.1:1/],
  ];
  for (const [ours, given, status, words] of table) {
    const result = await ours.export(given);
    assert.equal(result.status, status, String(words));
    assert.match(result.status === "success" ? "" : result.error.message, words);
  }
  const withoutToken = await new TrackioExporter({ url: server.url }).export(body);
  assert.deepEqual(withoutToken.rejected?.map(({ logId }) => logId), ["a", "b"]);
  assert.equal((await new TrackioExporter({ url: server.url }).check()).status, "failure");
  assert.deepEqual(await exporter().check(), { status: "success" });
  assert.deepEqual(await new TrackioExporter({ url: `${server.url}/?write_token=${server.writeToken}` }).export(body), { status: "success" });
});

test("a server that is restarted in the middle loses nothing", async () => {
  ownProject();
  const ids = Array.from({ length: 900 }, (_, i) => `log-${i}`);
  let requests = 0;
  const fetch = async (/** @type {any} */ url, /** @type {any} */ init) => {
    requests++;
    if (requests === 3) await server.stop();
    if (requests === 5) await server.start();
    return globalThis.fetch(url, init);
  };
  const ours = exporter({ fetch });
  const send = withRetry((/** @type {Uint8Array} */ body) => ours.export(body), { sleep: async () => {} });
  assert.deepEqual(await send(bodyOf(...ids.map((id) => entry(id)))), { status: "success" });
  assert.ok(requests > 7, `${requests} requests`);
  assert.deepEqual(await traceIds(), ids.map(idOf).sort());
  assert.equal((await stored(server))[project].runs[0].logs.length, ids.length);
});

test("the log of a server that is away is kept until it is back", async () => {
  ownProject();
  const ours = exporter({ project, run: "r" });
  await server.stop();
  ours.log({ a: 1 }, { step: 1 });
  assert.equal((await ours.finish()).status, "retryable");
  ours.log({ a: 2 }, { step: 2 });
  await server.start();
  assert.deepEqual(await ours.finish(), { status: "success" });
  assert.deepEqual((await stored(server))[project].runs[0].logs.map((/** @type {any} */ log) => log.a), [1, 2]);
});

test("large bodies go in batches", async () => {
  ownProject();
  /** @type {number[]} */
  const sizes = [];
  const fetch = (/** @type {any} */ url, /** @type {any} */ init) => (sizes.push(init.body.length), globalThis.fetch(url, init));
  const long = "x".repeat(300_000);
  const logs = Array.from({ length: 12 }, (_, i) => entry(`large-${i}`, { metrics: { long } }));
  assert.deepEqual(await exporter({ fetch }).export(bodyOf(...logs)), { status: "success" });
  assert.equal(sizes.length, 4);
  assert.ok(Math.max(...sizes) < 1.1e6);
  assert.equal((await stored(server))[project].runs[0].logs.length, 12);
});

test("the reader finds projects, runs by their ids, traces by pages and by steps", async () => {
  ownProject();
  const logs = ["a", "b", "c"].map((id, i) => entry(id, { step: i }));
  await exporter().export(bodyOf(...logs, entry("other", { run_id: "it's another", step: 9 })));
  const reader = new TrackioReader({ url: server.url });
  assert.ok((await reader.projects()).includes(project));
  const runs = await reader.runs(project);
  assert.deepEqual(runs.map(({ id, name }) => [id, name]).sort(), [["0123", "r"], ["it's another", "r"]]);
  assert.ok(runs.every(({ createdAt }) => !Number.isNaN(Date.parse(String(createdAt)))));
  const ids = async (/** @type {object} */ query) => JSON.parse(Buffer.from(await reader.traces({ project, runId: "0123", ...query })).toString()).data.map((/** @type {any} */ trace) => trace.id.split(":")[1]);
  assert.deepEqual(await ids({}), ["a", "b", "c"]);
  assert.deepEqual(await ids({ limit: 2 }), ["a", "b"]);
  assert.deepEqual(await ids({ limit: 2, offset: 2 }), ["c"]);
  assert.deepEqual(await ids({ step: 1 }), ["b"]);
  assert.deepEqual(await ids({ search: "ASK C" }), ["c"]);
  assert.deepEqual(await ids({ runId: "it's another" }), ["other"]);
  assert.deepEqual(await reader.traceIds({ project, runId: "it's another" }), ["it's another:other:rollout_trace/generate:0"]);
  assert.deepEqual(await reader.traceSteps({ project, runId: "0123" }), { total: 3, steps: [0, 1, 2].map((step) => ({ step, count: 1 })) });
  assert.deepEqual(await reader.runs("nowhere"), []);
  await assert.rejects(reader.traceIds({ project: "nowhere", runId: "x" }), failure("refused", /Project 'nowhere' not found/));
  await assert.rejects(new TrackioReader({ url: "http://127.0.0.1:1" }).projects(), failure("unreachable", /127.0.0.1:1/));
});

test("on a Space, the token of Hugging Face is the one that counts", async () => {
  ownProject();
  const space = new Trackio({ env: { SPACE_ID: "user/trackio", SYSTEM: "spaces", HF_TOKEN: "hf_of_the_space" } });
  try {
    await space.start();
    let requests = 0;
    const fetch = (/** @type {any} */ url, /** @type {any} */ init) => (requests++, globalThis.fetch(url, init));
    const refused = await new TrackioExporter({ url: space.url, writeToken: space.writeToken, fetch }).export(bodyOf(entry("a"), entry("b")));
    assert.match(refused.status === "failure" ? refused.error.message : "", /HF_TOKEN/);
    assert.equal(requests, 1, "a missing permission is that of no entry");
    assert.deepEqual(await new TrackioExporter({ url: space.url, hfToken: "hf_of_the_space" }).export(bodyOf(entry("a"))), { status: "success" });
    assert.deepEqual(await new TrackioReader({ url: space.url }).projects(), [project]);
  } finally {
    await space.dispose();
  }
});
