/** The exporter and the reader for Weave: what they make of answers, of bodies and of sizes. tests/integration has W&B's own server class. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { beforeEach, test } from "node:test";
import { WeaveExporter, WeaveReader, withRetry } from "../../pkg/exporters/weave-node.js";
import { fit, storedBytes } from "../../pkg/exporters/weave-size.js";
import { failure } from "./support/expect.js";
import { listening } from "./support/server.js";
import { jsonBytes } from "./support/tokenizers.js";

/** @typedef {{ path?: string, headers: import("node:http").IncomingHttpHeaders, body: any }} Seen */
/** @typedef {{ status: number, headers?: Record<string, string>, body?: string }} Answer */

const OK = { status: 200, body: "{}" };
/** Of a request. @type {(request: Seen) => Answer | "cut"} */
let answer = () => OK;
/** @type {Seen[]} */
let seen = [];
let url = "";
const server = createServer(async (incoming, response) => {
  const request = { path: incoming.url, headers: incoming.headers, body: JSON.parse(Buffer.concat(await incoming.toArray()).toString() || "null") };
  seen.push(request);
  const given = answer(request);
  if (given === "cut") return void incoming.socket.destroy();
  response.writeHead(given.status, given.headers).end(given.body);
});
listening(server, (at) => (url = at));
beforeEach(() => {
  seen = [];
  answer = () => OK;
});

const exporter = (more = {}) => new WeaveExporter({ url, project: "my team/p", apiKey: "key", ...more });
const call = (/** @type {string} */ id, more = {}) => ({ id, trace_id: "t", op_name: "op", started_at: "2026-01-01T00:00:00Z", ended_at: "2026-01-01T00:00:01Z", attributes: {}, inputs: {}, output: null, summary: {}, ...more });
const bodyOf = (/** @type {unknown[]} */ ...batch) => jsonBytes({ batch });
const sent = () => seen.flatMap(({ body }) => body.batch);
const ids = () => sent().map(({ id }) => id);
const is = (/** @type {Seen} */ { body }, /** @type {string[]} */ ...bad) => body.batch.some((/** @type {any} */ { id }) => bad.includes(id));
const codes = (/** @type {any} */ { rejected }) => rejected?.map((/** @type {any} */ { index, callId, error }) => [index, callId, error.code]);

test("a batch goes to the project's route with the key, and options are checked", async () => {
  assert.deepEqual(await exporter({ url: `${url}/traces/`, headers: { "x-own": "1" } }).export(bodyOf(call("a", { project_id: "other/project" }))), { status: "success" });
  const [{ path, headers, body }] = seen;
  assert.deepEqual([path, headers.authorization, headers["x-own"], headers["content-type"]], ["/traces/v2/my%20team/p/calls/complete", `Basic ${btoa("api:key")}`, "1", "application/json"]);
  assert.deepEqual(body, { batch: [{ project_id: "my team/p", ...call("a") }] });
  await exporter({ url: url.replace("//", "//api:of%20mine@"), apiKey: undefined }).export(bodyOf(call("a")));
  assert.equal(seen[1].headers.authorization, `Basic ${btoa("api:of mine")}`);
  for (const project of [undefined, "p", "a/b/c", "/p", "a/"]) assert.throws(() => exporter({ project }), failure("invalid_options", /`project` must be "entity\/project"/));
  assert.throws(() => exporter({ url: "nowhere" }), failure("invalid_options", /`url`/));
  assert.throws(() => exporter({ token: "x" }), failure("invalid_options", /`token`/));
});

test("413 and 422 are halved until the bad calls are alone, and the others are stored", async () => {
  const batch = Array.from({ length: 33 }, (_, i) => call(`call-${i}`));
  for (const [status, body] of /** @type {const} */ ([[413, "too large"], [422, '{"detail":[{"loc":["body","batch",0,"inputs"],"msg":"Input should be a valid dictionary"}]}']])) {
    seen = [];
    /** @type {string[]} */
    const kept = [];
    answer = (request) => {
      if (is(request, "call-4", "call-32")) return { status, body };
      kept.push(...request.body.batch.map((/** @type {any} */ { id }) => id));
      return OK;
    };
    const result = await exporter().export(bodyOf(...batch));
    assert.equal(result.status, "failure");
    assert.deepEqual(codes(result), [[4, "call-4", "refused"], [32, "call-32", "refused"]]);
    assert.match(result.error.message, status === 413 ? /^2 of 33 calls not stored; call 4: .*413: too large/ : /body\.batch\.0\.inputs: Input should be a valid dictionary/);
    assert.deepEqual(kept, batch.map(({ id }) => id).filter((id) => !["call-4", "call-32"].includes(id)));
    assert.ok(seen.length < 25, `${seen.length} requests`);
  }
});

test("what may pass is retryable, with the wait that was asked for, and what came before stays", async () => {
  const batch = Array.from({ length: 501 }, (_, i) => call(`call-${i}`));
  for (const status of [408, 429, 500, 502, 503, 504]) {
    seen = [];
    answer = () => (seen.length < 2 ? OK : { status, headers: { "retry-after": "7" }, body: '{"reason":"busy"}' });
    const result = await exporter().export(bodyOf(...batch));
    assert.equal(result.status, "retryable", String(status));
    if (status !== 500) assert.equal(result.retryAfterMs, 7000);
    assert.match(result.error.message, new RegExp(`status ${status}: busy`));
    assert.deepEqual([seen.length, result.rejected], [2, undefined]);
  }
  answer = () => "cut";
  assert.equal((await exporter().export(bodyOf(call("a")))).status, "retryable");
  assert.equal((await exporter({ url: "http://127.0.0.1:1" }).export(bodyOf(call("a")))).status, "retryable");
  seen = [];
  answer = () => (seen.length < 3 ? { status: 503 } : OK);
  const ours = exporter();
  const send = withRetry((/** @type {Uint8Array} */ body) => ours.export(body), { sleep: async () => {} });
  assert.deepEqual(await send(bodyOf(call("a"))), { status: "success" });
  assert.deepEqual([...new Set(seen.map(({ body }) => JSON.stringify(body)))].length, 1);
});

test("an answer about everything stops the export, and an answer of someone else is no success", async () => {
  /** @type {[Answer, RegExp][]} */
  const table = [
    [{ status: 401, body: '{"reason":"invalid API key"}' }, /401: invalid API key; give the key/],
    [{ status: 403, body: '{"error":"no access"}' }, /403: no access; the account/],
    [{ status: 404, body: '{"detail":"Not Found"}' }, /404: Not Found; `url` has to be/],
    [{ status: 400, body: '{"message":"wrong mode","error_code":"X"}' }, /400: wrong mode/],
    [{ status: 200, body: "<html>please log in</html>" }, /does not answer as Weave/],
    [{ status: 200, body: "" }, /does not answer as Weave/],
    [{ status: 200, body: "1" }, /does not answer as Weave/],
    [{ status: 302, headers: { location: "/" } }, /./],
  ];
  for (const [given, words] of table) {
    seen = [];
    answer = ({ path }) => (path === "/" ? OK : given);
    const result = await exporter().export(bodyOf(...Array.from({ length: 600 }, (_, i) => call(`call-${i}`))));
    assert.equal(result.status, "failure", JSON.stringify(given));
    assert.match(result.error.message, words);
    assert.deepEqual([result.rejected?.length, result.rejected?.[599].callId], [600, "call-599"]);
    assert.equal(seen.filter(({ path }) => path !== "/").length, 1);
  }
  const controller = new AbortController();
  answer = () => (controller.abort(), OK);
  const aborted = await exporter({ signal: controller.signal }).export(bodyOf(call("a")));
  assert.deepEqual([aborted.status, aborted.rejected?.[0].error.code], ["failure", "aborted"]);
});

test("batches are bounded in calls and in bytes", async () => {
  await exporter().export(bodyOf(...Array.from({ length: 1001 }, (_, i) => call(`call-${i}`))));
  assert.deepEqual(seen.map(({ body }) => body.batch.length), [500, 500, 1]);
  seen = [];
  await exporter().export(bodyOf(...Array.from({ length: 9 }, (_, i) => call(`call-${i}`, { output: "é".repeat(550_000) }))));
  assert.deepEqual(seen.map(({ body }) => body.batch.length), [7, 2]);
});

test("calls keep their text in every form of body, and halves are put together", async () => {
  const text = '"attributes":{"n":1.0,"big":18446744073709551616,"few":-1E-5},"inputs":{"s":"\\u00e9\\/ }],[{","null":null}, "output" : "NaN"';
  const start = `"id":"a","trace_id":"t","op_name":"op","display_name":"d","started_at":"2026-01-01T00:00:00.000001Z"`;
  const whole = `{${start},"ended_at":"2026-01-01T00:00:01Z",${text},"summary":{"status_counts":{"success":1},"weave":{"status":"success"}},"wb_user_id":"me","storage_size_bytes":5}`;
  const [head, output] = text.split(', "output"');
  const end = `"id":"a","ended_at":"2026-01-01T00:00:01Z","output"${output},"summary":{"status_counts":{"success":1}}`;
  const upsert = (/** @type {string[]} */ ...items) => `{"batch":[${items.join(",")}]}`;
  const startItem = `{"mode":"start","req":{"start":{"project_id":"x/y",${start},${head}}}}`;
  const endItem = `{"mode":"end","req":{"end":{"project_id":"x/y",${end}}}}`;
  const wrapped = [upsert(whole), `{"calls":[${whole}]}`, `{"call":${whole}}`, `${whole}\n${whole.replace('"a"', '"b"')}\n`, `\ufeff ${whole}`, upsert(startItem, endItem), upsert(endItem, startItem)];
  for (const body of wrapped) {
    let raw = "";
    const fetch = async (/** @type {any} */ _, /** @type {any} */ init) => ((raw = Buffer.from(init.body).toString()), new Response("{}"));
    assert.deepEqual(await exporter({ fetch }).export(new TextEncoder().encode(body)), { status: "success" }, body);
    for (const part of text.split(', "output" : ')) assert.ok(raw.includes(part), `${body}\n${raw}`);
    const [{ project_id, display_name, summary, wb_user_id, storage_size_bytes, ended_at }] = JSON.parse(raw).batch;
    assert.deepEqual([project_id, display_name, summary, wb_user_id, storage_size_bytes, ended_at], ["my team/p", "d", { status_counts: { success: 1 } }, undefined, undefined, "2026-01-01T00:00:01Z"]);
  }
  for (const [item, words] of /** @type {const} */ ([[startItem, /its end is not in the same body/], [endItem, /its start is not/]])) {
    const result = await exporter().export(new TextEncoder().encode(upsert(item, whole.replace('"a"', '"b"'))));
    assert.match(result.rejected?.[0].error.message ?? "", words);
  }
  assert.deepEqual(ids(), ["b", "b"]);
});

test("events of spans stay, among the attributes", async () => {
  const events = '[{"name":"first token","at":1.0}]';
  await exporter().export([{ name: "a", events }, { name: "b", events, attributes: '{"events":[1],"n":1}' }, { name: "c", events, attributes: "null" }, { name: "d", events: " [ ]" }]);
  assert.deepEqual(sent().map(({ attributes }) => attributes), [{ events: JSON.parse(events) }, { events: [1], n: 1, span_events: JSON.parse(events) }, { events: JSON.parse(events) }, {}]);
});

test("what is no body, or no call, is told, and nothing throws", async () => {
  /** @type {[any, string, RegExp][]} */
  const table = [
    ["text", "failure", /takes the bytes of a body or spans, not "text"/],
    [null, "failure", /takes the bytes/],
    [Uint8Array.of(0x1f, 0x8b, 0), "failure", /gzip/],
    [new TextEncoder().encode("nonsense"), "failure", /neither JSON/],
    [bodyOf(call("a"), call("b")).slice(0, -9), "failure", /not JSON/],
    [[5], "failure", /spans\[0\] is 5, not a span/],
    [[{ name: "a" }, { name: "b", output: "{" }], "failure", /call 1: spans\[1\]\.output is not JSON/],
    [bodyOf(call("a"), { op_name: "half" }, 7), "failure", /^2 of 3 calls not stored; call 1: .*`id`/],
    [new TextEncoder().encode('{"output":{"response_ids":[1]}}\n{broken\n{"output":{"response_ids":[2]}}'), "failure", /call 2: the line \/1 is not JSON/],
    [[], "success", /^$/],
    [new Uint8Array(), "success", /^$/],
  ];
  for (const [given, status, words] of table) {
    const result = await exporter().export(given);
    assert.equal(result.status, status, String(words));
    assert.match(result.status === "success" ? "" : result.error.message, words);
  }
  // A record of someone else, and lines of which the first is broken.
  seen = [];
  const line = JSON.stringify(call("line"));
  await exporter().export(jsonBytes({ op_name: "mine", output: { response_ids: [1] } }));
  const lines = await exporter().export(new TextEncoder().encode(`{broken\n${line}\n${line.replace('"line"', '"\\x"')}\n`));
  assert.deepEqual([sent().map(({ id, output }) => [id.length, output]), codes(lines)], [[[16, { response_ids: [1] }], [4, null]], [[0, undefined, "invalid_body"], [2, undefined, "invalid_body"]]]);
  const deep = `${"[".repeat(1500)}${"]".repeat(1500)}`;
  seen = [];
  const raw = `{"batch":[${JSON.stringify(call("deep")).replace("null", deep)},${JSON.stringify(call("good", { inputs: { prompt_ids: [1] }, output: { token_ids: [2, 3] } }))}]}`;
  assert.equal((await exporter().export(new TextEncoder().encode(raw))).status, "success");
  assert.deepEqual(sent().map(({ summary }) => summary.usage?.usage.completion_tokens), [undefined, 2]);
});

test("what Weave cannot store is replaced and counted, and the input stays", async () => {
  const text = `{"batch":[${JSON.stringify(call("a")).replace('"inputs":{}', '"inputs":{"a":"\\ud83d","b":[NaN,-Infinity],"c":"NaN \\ud83d\\ude00","ÿ":1}')}]}`;
  const body = Buffer.from(text, "latin1");
  const given = Buffer.from(body);
  assert.deepEqual(await exporter().export(body), { status: "success", replaced: { characters: 2, numbers: 2 } });
  assert.deepEqual(body, given);
  assert.deepEqual(sent()[0].inputs, { a: "\ufffd", b: [null, null], c: "NaN 😀", "\ufffd": 1 });
  const protobuf = Buffer.from("0a400a0012380a360a105b8efff798038103d269b633813fc60c1208eee19b7ec3c1b1742a0161390000000000000000410000000000000000", "hex");
  assert.deepEqual((await exporter().export(protobuf)).replaced, undefined);
});

test("tokens count once: in calls, not around them, nor in copies, nor twice", async () => {
  const span = (/** @type {string} */ spanId, /** @type {object} */ more) => ({ traceId: "trace-of-the-test", spanId: `span-of-the-test-${spanId}`, name: spanId, ...more });
  const inside = { parentId: "span-of-the-test-run" };
  const spans = [
    span("one", { name: "generate", ...inside, model: "m", inputs: '{"prompt_ids":[1,2]}', output: '{"token_ids":[3,4]}' }),
    span("parser", { ...inside, inputs: '{"responses_ids":[3,4]}', output: "[]" }),
    span("two", { name: "generate", ...inside, model: "m", inputs: '{"prompt_ids":[1,2,3,4,5]}', output: '{"token_ids":[6]}' }),
    span("run", { parentId: "span-of-the-test-loop", output: '{"prompt_ids":[1,2],"response_ids":[3,4,5,6],"response_mask":[1,1,0,1]}' }),
    span("loop", {}),
  ];
  const usage = { one: [2, 2], two: [5, 1] };
  const counted = () => Object.fromEntries(sent().filter(({ summary }) => summary.usage).map(({ id, summary }) => [id.split("-").at(-1), [summary.usage.m.prompt_tokens, summary.usage.m.completion_tokens]]));
  await exporter({ model: "m" }).export(spans);
  assert.deepEqual(counted(), usage);
  // One by one, as they end.
  seen = [];
  const ours = exporter({ model: "m" });
  for (const one of spans) await ours.export([one]);
  assert.deepEqual(counted(), usage);
  // A call that was broken off has read its prompt.
  seen = [];
  await exporter({ model: "m" }).export([span("aborted", { inputs: '{"prompt_ids":[1,2]}', output: '{"token_ids":[]}' }), span("tool", { inputs: '{"prompt_ids":[1,2]}', output: "{}" })]);
  assert.deepEqual(counted(), { aborted: [2, 0] });
  // A trajectory whose turns nobody has told.
  seen = [];
  await exporter({ model: "m" }).export([spans[3]]);
  assert.deepEqual(counted(), { run: [2, 3] });
  // A stream, whose ids are in events; a summary that says it already; choices; a layout of one's own.
  seen = [];
  const chunk = (/** @type {object} */ more) => `data: ${JSON.stringify({ object: "chat.completion.chunk", model: "m", choices: [], ...more })}\n\n`;
  await exporter().export(new TextEncoder().encode(chunk({ prompt_token_ids: [1, 2] }) + chunk({ choices: [{ index: 0, delta: {}, token_ids: [3] }] })), { contentType: "text/event-stream" });
  await exporter().export(bodyOf(call("known", { output: { token_ids: [1] }, summary: { usage: { x: { requests: 2 } } } })));
  await exporter().export([span("n", { output: '{"model":"m","prompt_token_ids":[1],"choices":[{"index":0,"token_ids":[4,5]},{"index":1,"token_ids":[6]}]}' })]);
  const layouts = [{ name: "mine", when: ["/output/mine"], fields: [{ kind: "response", ids: ["/output/mine"], text: "/output/text" }] }];
  await exporter({ layouts }).export([span("own", { output: '{"mine":[1,2,3]}' })]);
  assert.deepEqual(sent().map(({ summary }) => Object.entries(summary.usage).map(([model, { requests, total_tokens }]) => [model, requests, total_tokens])[0]), [["m", 1, 3], ["x", 2, undefined], ["m", 1, 4], ["usage", 1, 3]]);
});

test("samples that are none are told, and scores of any size stay", async () => {
  /** @type {[any, RegExp][]} */
  const table = [
    [null, /a list of samples, not null/],
    [[["a", "b"], "cd"], /sample 1 is \[input, output, score\], not "cd"/],
    [[["a", "b", { toJSON: () => { throw new Error("no"); } }]], /the score of sample 0 cannot be JSON: no/],
    [[["a", [1]]], /`tokenizer`/],
  ];
  for (const [samples, words] of table) {
    const result = await exporter().logGenerations(samples);
    assert.equal(result.status === "failure" ? result.error.code : "", "invalid_options");
    assert.match(result.status === "failure" ? result.error.message : "", words);
  }
  assert.deepEqual(seen, []);
  assert.deepEqual(await exporter().logGenerations([["a", "b", 2n ** 70n]]), { status: "success" });
  assert.equal(sent()[0].output.score_1, 2 ** 70);
});

test("the size of a call is at least what Python's json.dumps makes of it, and what goes first is what matters least", () => {
  // As Python 3.11 prints them.
  for (const [text, bytes] of /** @type {[string, number][]} */ ([['{"a":[1,2,3],"b":"é😀\\n\\u00e9"}', 51], ["[ 1 , 2.5 ,true,null]", 20], ['""', 2], ['{"\\"":-0.5}', 12], ['"\u007f\\\\"', 10]])) assert.equal(storedBytes(text), bytes, text);
  assert.ok(storedBytes("[1e15,1E-7]") >= "[1000000000000000.0, 1e-07]".length);
  const list = (/** @type {number} */ length, /** @type {(i: number) => unknown} */ item) => JSON.stringify(Array.from({ length }, (_, i) => item(i)));
  const size = 28_000;
  const limit = 140_000;
  const parts = {
    messages: list(100, (i) => ({ role: "user", content: `message ${i}`, at: i / 7 })),
    short: list(63, (i) => i),
    mask: list(size / 3, () => 1),
    ids: list(size / 8, (i) => 100_000 + i),
    rows: `[${Array.from({ length: 70 }, () => list(50, (i) => 100_000 + i)).join(",")}]`,
    logprobs: list(size / 12, (i) => ({ logprob: -i / 10, token: "x" })),
    triples: list(size / 14, (i) => [-i / 10, i, "x"]),
    "a/b~": JSON.stringify("x".repeat(size)),
  };
  const order = ["/output/logprobs", "/output/triples", "/output/mask", "/output/rows", "/output/ids", "/output/a~1b~0"];
  const calls = (/** @type {number} */ more) => new Map([["inputs", JSON.stringify({ text: "y".repeat(more) })], ["output", `{${Object.entries(parts).map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`], ["attributes", "{}"], ["summary", "{}"]]);
  for (const more of [0, 20_000, 60_000, 90_000, 110_000, 130_000, 400_000]) {
    const call = calls(more);
    const cut = fit(call, limit);
    const all = [...call.values()].reduce((sum, text) => sum + storedBytes(text), 0);
    assert.ok(all <= limit, `${more}: ${all}`);
    const ofOutput = cut.filter((path) => path !== "/inputs/text");
    assert.deepEqual(ofOutput, order.slice(0, ofOutput.length), String(more));
    const output = JSON.parse(call.get("output") ?? "");
    for (const [key, text] of Object.entries(parts)) if (!cut.includes(`/output/${key.replace("~", "~0").replace("/", "~1")}`)) assert.deepEqual(output[key], JSON.parse(text), key);
  }
  assert.deepEqual(fit(new Map([["output", `"${"x".repeat(3_600_000)}"`]])), []);
  assert.deepEqual(fit(new Map([["output", `"${"x".repeat(3_700_000)}"`]])), ["/output"]);
  assert.throws(() => fit(new Map([["output", list(30_000, () => "text")]]), limit), failure("limit_exceeded", /larger than Weave stores/));
});

test("the reader asks for pages behind the last call, and tells what is no answer", async () => {
  const line = (/** @type {string} */ id) => `${JSON.stringify(call(id))}\n`;
  answer = () => ({ status: 200, body: seen.length === 1 ? line("a") + line("b") : seen.length === 2 ? line("c") : "" });
  const reader = new WeaveReader({ url, project: "e/p" });
  const pages = [];
  for await (const page of reader.calls({ ops: ["run", "weave:///e/p/op/x:*"], traceIds: ["t"], from: "2025-01-01T00:00:00Z", to: new Date("2027-01-01T00:00:00Z") }, { pageSize: 2 })) pages.push(Buffer.from(page).toString());
  assert.deepEqual(pages, [line("a") + line("b"), line("c")]);
  const [{ path, headers, body }, { body: second }] = seen;
  assert.deepEqual([path, headers.authorization, seen.length], ["/calls/stream_query", undefined, 2]);
  assert.deepEqual(body, {
    project_id: "e/p",
    filter: { trace_ids: ["t"], op_names: ["run", "weave:///e/p/op/run:*", "weave:///e/p/op/x:*"] },
    query: { $expr: { $and: [{ $gte: [{ $getField: "started_at" }, { $literal: "2025-01-01T00:00:00Z" }] }, { $not: [{ $gte: [{ $getField: "started_at" }, { $literal: "2027-01-01T00:00:00.000Z" }] }] }] } },
    sort_by: [{ field: "started_at", direction: "asc" }, { field: "id", direction: "asc" }],
    limit: 2,
    latest_only: true,
  });
  assert.deepEqual(second.query.$expr.$and[2].$or[1].$and[1], { $gt: [{ $getField: "id" }, { $literal: "b" }] });
  answer = () => ({ status: 200, body: "<html>" });
  await assert.rejects(reader.calls().next(), failure("refused", /no answer of Weave/));
  let times = 0;
  answer = () => (times++ % 2 === 0 ? { status: 503 } : { status: 200 });
  await assert.rejects(reader.calls().next(), failure("refused", /503/));
  times = 0;
  assert.deepEqual(await new WeaveReader({ url, project: "e/p", retry: { sleep: async () => {} } }).calls().next(), { done: true, value: undefined });
  await assert.rejects(reader.calls({ from: "yesterday" }).next(), failure("invalid_options", /`from`/));
});
