/** The receiver by OTLP's specification: what it takes, what it answers. Answers are read by OpenTelemetry's own classes. */
import assert from "node:assert/strict";
import http from "node:http";
import http2 from "node:http2";
import { connect } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { DEFAULTS } from "../../collector/src/configuration/defaults.js";
import { bytesField, varintField } from "../../pkg/exporters/wire.js";
import { freshId, request } from "../integration/support/fixtures.js";
import { otlpClient } from "../integration/support/rotel.js";
import { anywhere, startCollector } from "./support/collector.js";
import { Sink } from "./support/sink.js";

/** @typedef {import("../../collector/src/types.js").Configuration} Configuration */
/** @typedef {{ method?: string, path?: string, headers?: Record<string, string>, body?: Uint8Array | string }} Asked */

const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";
const NO_GRPC = "OTLP/gRPC is not accepted: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf";
const MIB = 1 << 20;
const IDS = [52491, 83592, 52549];
const OUTPUT = `{"token_ids":[${IDS}]}`;
const JSON_BODY = JSON.stringify({
  resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: freshId(16), spanId: freshId(8), name: "generate", attributes: [{ key: "mlflow.spanOutputs", value: { stringValue: OUTPUT } }] }] }] }],
});
const body = request({ span: freshId(8), attributes: { "mlflow.spanOutputs": OUTPUT } }, { span: freshId(8), attributes: { a: "b" } });
const without = request({ span: freshId(8), attributes: { a: "b" } });

const python = otlpClient();
const sink = await new Sink().start();
const second = await new Sink().start();
/** @type {Awaited<ReturnType<typeof startCollector>>[]} */
const collectors = [];
let url = "";
/** To two exports. */
let both = "";

/** @param {Partial<Configuration>} more */
async function receiver(more) {
  const collector = await startCollector({ receive: anywhere, exports: [sink.target()], ...more });
  collectors.push(collector);
  return collector.urls[0];
}

before(async () => {
  url = await receiver({ access: { hosts: [], origins: ["https://traces.example"] } });
  both = await receiver({ exports: [sink.target(), second.target({ gzip: true })] });
});
after(async () => {
  await Promise.all(collectors.map((collector) => collector.close()));
  for (const open of [sink, second, python]) open.close();
});
beforeEach(() => {
  for (const backend of [sink, second]) {
    backend.answer = { status: 200 };
    backend.seen = [];
  }
});

/** A request by `node:http`, which sends whatever it is told. @param {string} to @param {Asked} [asked] */
async function ask(to, { method = "POST", path = "/v1/traces", headers = { "content-type": PROTOBUF }, body } = {}) {
  const incoming = await new Promise((resolve, reject) => http.request(to + path, { method, headers }, resolve).on("error", reject).end(body));
  const bytes = Buffer.concat(await incoming.toArray());
  return { status: incoming.statusCode, headers: incoming.headers, type: incoming.headers["content-type"], body: bytes };
}

/** The message in an answer. @param {string} name @param {{ type: string, body: Buffer }} answer */
const message = (name, { type, body }) => python.ask("read", name, type, body.toString("base64"));

/** @param {string} to @param {Asked} asked @param {number} status @param {RegExp} words @param {string} [type] */
async function refused(to, asked, status, words, type = PROTOBUF) {
  const answer = await ask(to, asked);
  assert.deepEqual([answer.status, answer.type], [status, type]);
  const { code, message: text } = await message("Status", answer);
  assert.match(text, words);
  assert.equal(typeof code, "number");
  return answer;
}

test("a success is answered in the encoding of the request, and what is sent on has texts", async () => {
  for (const [sent, contentType] of /** @type {const} */ ([[body, PROTOBUF], [JSON_BODY, JSON_TYPE]])) {
    for (const header of [contentType, `${contentType}; charset=utf-8`, contentType.toUpperCase()]) {
      sink.seen = [];
      const answer = await ask(url, { headers: { "content-type": header }, body: sent });
      assert.deepEqual([answer.status, answer.type, await message("Response", answer)], [200, contentType, {}]);
      assert.deepEqual([sink.seen.length, sink.seen[0].path, sink.seen[0].headers["content-type"]], [1, "/v1/traces", contentType]);
      const { resourceSpans } = await message("Request", { type: contentType, body: sink.seen[0].body });
      const [{ value: chat }, { value }] = resourceSpans[0].scopeSpans[0].spans[0].attributes;
      assert.deepEqual(Object.keys(JSON.parse(value.stringValue)), ["response_text", "token_ids"]);
      assert.equal(JSON.parse(chat.stringValue)[0].content, JSON.parse(value.stringValue).response_text);
    }
  }
});

test("a request without ids is sent on byte for byte, whatever encoding it came in", async () => {
  const encoded = { identity: without, gzip: gzipSync(without), deflate: deflateSync(without) };
  for (const [encoding, bytes] of Object.entries(encoded)) {
    sink.seen = [];
    const { status } = await ask(url, { headers: { "content-type": PROTOBUF, "content-encoding": encoding }, body: bytes });
    assert.deepEqual([status, sink.seen.map((sunk) => sunk.body)], [200, [Buffer.from(without)]], encoding);
  }
});

test("an empty request is a success that nobody is troubled with", async () => {
  for (const [type, bytes] of [[PROTOBUF, ""], [JSON_TYPE, ""], [JSON_TYPE, "{}"], [JSON_TYPE, ' { "resourceSpans" : [ ] }\n'], [PROTOBUF, Buffer.from("0a0212001a00", "hex")]]) {
    const answer = await ask(url, { headers: { "content-type": String(type) }, body: bytes });
    assert.deepEqual([answer.status, await message("Response", answer)], [200, {}]);
  }
  assert.deepEqual(sink.seen, []);
});

test("what cannot be decoded is a bad request, with a Status in the encoding of the request", async () => {
  const proto = { "content-type": PROTOBUF };
  const json = { "content-type": JSON_TYPE };
  await refused(url, { headers: proto, body: "garbage" }, 400, /not OTLP as protocol buffers/);
  await refused(url, { headers: proto, body: body.subarray(0, -3) }, 400, /damaged at byte/);
  await refused(url, { headers: { ...proto, "content-encoding": "gzip" }, body }, 400, /not what its content encoding says/);
  await refused(url, { headers: { ...proto, "content-encoding": "gzip" }, body: gzipSync(body).subarray(0, -9) }, 400, /not what its content encoding says/);
  await refused(url, { headers: json, body: '{"resourceSpa' }, 400, /not JSON/, JSON_TYPE);
  assert.deepEqual(sink.seen, []);
});

test("what is JSON but no request is refused when nobody takes it", async () => {
  sink.answer = { status: 400, body: Buffer.from("0803", "hex") };
  for (const wrong of ["[]", '{"resourceSpans":5}', `${JSON_BODY}\n${JSON_BODY}`]) {
    await refused(url, { headers: { "content-type": JSON_TYPE }, body: wrong }, 400, /not JSON|not a JSON object|not a list/, JSON_TYPE);
  }
});

test("other types, encodings, methods and paths are refused in words", async () => {
  await refused(url, { headers: { "content-type": "text/plain" }, body }, 415, /must be application\/x-protobuf or application\/json, not text\/plain/, JSON_TYPE);
  await refused(url, { body, headers: {} }, 415, /must be application\/x-protobuf/, JSON_TYPE);
  await refused(url, { headers: { "content-type": PROTOBUF, "content-encoding": "zstd" }, body }, 415, /content encoding/);
  for (const method of ["GET", "PUT", "DELETE"]) {
    const { headers } = await refused(url, { method, headers: {} }, 405, /POST traces/, JSON_TYPE);
    assert.equal(headers.allow, "POST");
  }
  await refused(url, { path: "/", method: "GET", headers: {} }, 404, /POST traces to \/v1\/traces/, JSON_TYPE);
  await refused(url, { path: "/v1/metrics", body }, 404, /OTEL_METRICS_EXPORTER=none/);
});

test("a body that is too large is refused, also after decompression, and so are too many at once", async () => {
  const small = await receiver({ limits: { ...DEFAULTS.limits, bodyBytes: MIB, heldBytes: 1.5 * MIB } });
  const large = Buffer.alloc(MIB + 1);
  const proto = { "content-type": PROTOBUF };
  await refused(small, { headers: { ...proto, "content-length": String(large.length) }, body: large }, 413, /more than 1048576 bytes/);
  await refused(small, { headers: { ...proto, "transfer-encoding": "chunked" }, body: large }, 413, /more than 1048576 bytes/);
  await refused(small, { headers: { ...proto, "content-encoding": "gzip" }, body: gzipSync(Buffer.alloc(100 * MIB)) }, 413, /more than 1048576 bytes/);

  // Half of what may be held is held by a request whose export has not answered.
  let release = () => {};
  const arrived = new Promise((resolve) => (sink.onRequest = () => resolve(undefined)));
  sink.answer = { status: 200, waitFor: new Promise((resolve) => (release = () => resolve(undefined))) };
  const padded = Buffer.concat([body, Buffer.from("1a", "hex"), Buffer.from([0x80, 0x80, 0x30]), Buffer.alloc(0xc0000)]);
  const first = ask(small, { headers: proto, body: padded });
  await arrived;
  const { headers } = await refused(small, { headers: proto, body: padded }, 503, /a little later/);
  assert.equal(headers["retry-after"], "1");
  release();
  assert.equal((await first).status, 200);
  assert.equal((await ask(small, { headers: proto, body: padded })).status, 200);
});

test("gRPC is told what to set, over both versions of HTTP", async () => {
  const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  const old = await refused(url, { path, headers: { "content-type": "application/grpc" }, body }, 415, /./, JSON_TYPE);
  assert.equal((await message("Status", old)).message, NO_GRPC);
  for (const contentType of ["application/grpc", "application/grpc+proto", "text/plain"]) {
    const session = http2.connect(url);
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": contentType });
    stream.end(Buffer.alloc(5));
    const headers = await new Promise((resolve) => stream.on("response", resolve));
    const isGrpc = contentType.startsWith("application/grpc");
    assert.equal(headers[":status"], isGrpc ? 200 : 505);
    if (isGrpc) assert.deepEqual([headers["grpc-status"], decodeURIComponent(String(headers["grpc-message"]))], ["12", NO_GRPC]);
    stream.resume();
    await new Promise((resolve) => stream.on("close", resolve));
    session.close();
  }
});

test("a request in pieces of single bytes is still one", async () => {
  const head = `POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${PROTOBUF}\r\ncontent-length: ${without.length}\r\nconnection: close\r\n\r\n`;
  const socket = connect(Number(new URL(url).port), "127.0.0.1").setNoDelay();
  for (const byte of Buffer.concat([Buffer.from(head), without])) {
    socket.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.match(Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1.1 200 OK/);
});

test("a token is asked for, and names in Host and pages that are not known are refused", async () => {
  const guarded = await receiver({ access: { token: "secret", hosts: ["collector.example"], origins: [] } });
  const proto = { "content-type": PROTOBUF };
  await refused(guarded, { headers: proto, body }, 401, /token/);
  await refused(guarded, { headers: { ...proto, authorization: "Bearer other" }, body }, 401, /token/);
  const known = { ...proto, authorization: "Bearer secret" };
  assert.equal((await ask(guarded, { headers: known, body })).status, 200);
  assert.equal((await ask(guarded, { headers: { ...known, host: "collector.example:80" }, body })).status, 200);
  await refused(guarded, { headers: { ...known, host: "rebound.example" }, body }, 403, /Host/);
  await refused(guarded, { headers: { ...known, origin: "https://traces.example" }, body }, 403, /Origin/);
});

test("pages of an allowed origin may send", async () => {
  const origin = "https://traces.example";
  const asks = { "access-control-request-method": "POST", "access-control-request-headers": "content-type,content-encoding" };
  const preflight = await ask(url, { method: "OPTIONS", headers: { origin, ...asks } });
  assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [204, origin]);
  assert.match(String(preflight.headers["access-control-allow-headers"]), /content-type/);
  const sent = await ask(url, { headers: { "content-type": PROTOBUF, origin }, body });
  assert.deepEqual([sent.status, sent.headers["access-control-allow-origin"]], [200, origin]);
});

/** The answer when the two exports answer so. @param {import("./support/sink.js").SinkAnswer} one @param {import("./support/sink.js").SinkAnswer} other */
async function judged(one, other) {
  Object.assign(sink, { answer: one, seen: [] });
  Object.assign(second, { answer: other, seen: [] });
  const answer = await ask(both, { headers: { "content-type": PROTOBUF }, body });
  assert.deepEqual([sink.seen.length, second.seen.length], [1, 1]);
  const said = await message(answer.status === 200 ? "Response" : "Status", answer);
  return { status: answer.status, retryAfter: answer.headers["retry-after"], ...said };
}

const OK = { status: 200 };
const BUSY = { status: 429, headers: { "retry-after": "3" } };
const DOWN = { status: 503, headers: { "retry-after": "7" } };
const BAD = { status: 400, body: Buffer.from("0803120a6120626164207370616e", "hex") };
/** One rejected span. */
const PARTIAL = { status: 200, body: Buffer.from("0a0b0801120774726f75626c65", "hex") };
const WARNED = { status: 200, body: Buffer.from("0a061204736c6f77", "hex") };

test("two exports: what may succeed later is asked for again, as the most patient one wants", async () => {
  const both503 = await judged(BUSY, DOWN);
  assert.deepEqual([both503.status, both503.retryAfter, both503.code], [503, "7", 14]);
  assert.match(both503.message, /^otlp 127.0.0.1:\d+: .*status 429.*; otlp 127.0.0.1:\d+: .*status 503/);
  for (const other of [OK, BAD, PARTIAL]) assert.deepEqual(pick(await judged(BUSY, other)), [429, "3"]);
  assert.deepEqual(pick(await judged(BUSY, BUSY)), [429, "3"]);
  assert.deepEqual(pick(await judged(OK, DOWN)), [503, "7"]);
  assert.deepEqual(pick(await judged(OK, { status: 0, isCut: true })), [503, undefined]);
  function pick(/** @type {any} */ { status, retryAfter }) {
    return [status, retryAfter];
  }
});

test("two exports: when nobody has stored anything and nobody will, that is an error which is not tried again", async () => {
  const own = await judged(BAD, { status: 500 });
  assert.deepEqual([own.status, own.code], [500, 13]);
  assert.match(own.message, /^otlp \S+ has not stored 2 of 2 spans: .*a bad span; otlp \S+ has not stored 2 of 2 spans: .*status 500/);
  const all = { ...PARTIAL, body: Buffer.from("0a0b0802120774726f75626c65", "hex") };
  assert.deepEqual((await judged(BAD, all)).status, 400);
  assert.deepEqual((await judged(BAD, { status: 401 })).status, 500);
});

test("two exports: what has failed for good in part is a partial success, for nothing may be sent again", async () => {
  const one = await judged(OK, BAD);
  assert.deepEqual([one.status, one.partialSuccess.rejectedSpans], [200, undefined]);
  assert.match(one.partialSuccess.errorMessage, /^otlp \S+ has not stored 2 of 2 spans: .*a bad span$/);
  const some = await judged(PARTIAL, BAD);
  assert.equal(some.partialSuccess.rejectedSpans, "1");
  assert.match(some.partialSuccess.errorMessage, /has not stored 1 of 2 spans: .*trouble; .*has not stored 2 of 2 spans/);
  assert.deepEqual(await judged(OK, OK), { status: 200, retryAfter: undefined });
});

test("warnings reach the client: those of backends, and what went on undecoded", async () => {
  const warned = await judged(OK, WARNED);
  assert.equal(warned.partialSuccess.rejectedSpans, undefined);
  assert.match(warned.partialSuccess.errorMessage, /^otlp \S+: slow$/);
  let list = varintField(3, 1n);
  for (let depth = 0; depth < 2000; depth++) list = bytesField(5, bytesField(1, list));
  const deep = request({ span: freshId(8), attributes: { list } }, { span: freshId(8) });
  const deepJson = JSON_BODY.replace("{", `{"unknown":${"[".repeat(2000)}${"]".repeat(2000)},`);
  for (const [type, sent, spans] of /** @type {const} */ ([[PROTOBUF, deep, 2], [JSON_TYPE, deepJson, 1]])) {
    sink.seen = [];
    const answer = await ask(url, { headers: { "content-type": type }, body: sent });
    const { partialSuccess } = await message("Response", answer);
    assert.equal(partialSuccess.rejectedSpans, undefined);
    assert.equal(partialSuccess.errorMessage, `${spans} spans forwarded undecoded: limit_exceeded`);
    assert.deepEqual(sink.seen[0].body, Buffer.from(sent));
  }
});

test("Weave gets protocol buffers at its own path, with the project and the key", async () => {
  const to = await receiver({ exports: [{ backend: "weave", url: `${sink.url}/`, options: { project: "me/rollouts", token: "key", headers: { "x-own": "1" } } }] });
  for (const [type, sent] of /** @type {const} */ ([[PROTOBUF, body], [JSON_TYPE, JSON_BODY]])) {
    sink.seen = [];
    const answer = await ask(to, { headers: { "content-type": type }, body: sent });
    assert.deepEqual([answer.status, answer.type], [200, type]);
    const [{ path, headers, body: given }] = sink.seen;
    assert.deepEqual([path, headers["content-type"], headers.project_id, headers["x-own"]], ["/otel/v1/traces", PROTOBUF, "me/rollouts", "1"]);
    assert.equal(headers.authorization, `Basic ${btoa("api:key")}`);
    const { resourceSpans } = await message("Request", { type: PROTOBUF, body: given });
    assert.match(resourceSpans[0].scopeSpans[0].spans[0].attributes[1].value.stringValue, /response_text/);
  }
});

test("of samples a share is exported, whole traces, and everything is a success", async () => {
  const to = await receiver({ sample: 0.5 });
  const traces = Array.from({ length: 40 }, () => freshId(16));
  const spans = traces.flatMap((trace) => [1, 2].map(() => ({ trace, span: freshId(8), attributes: { "mlflow.spanOutputs": OUTPUT } })));
  const answer = await ask(to, { headers: { "content-type": PROTOBUF }, body: request(...spans) });
  assert.deepEqual([answer.status, await message("Response", answer)], [200, {}]);
  // Again, one by one: the same ones.
  for (const span of spans) assert.equal((await ask(to, { headers: { "content-type": PROTOBUF }, body: request(span) })).status, 200);
  const ids = await Promise.all(sink.seen.map(async ({ body: given }) => {
    const { resourceSpans } = await message("Request", { type: PROTOBUF, body: given });
    return resourceSpans.flatMap((/** @type {any} */ { scopeSpans }) => scopeSpans[0].spans.map((/** @type {any} */ { spanId }) => Buffer.from(spanId, "base64").toString("hex")));
  }));
  const [first, ...later] = ids;
  assert.ok(first.length > 10 && first.length < 70, String(first.length));
  assert.deepEqual(first, later.flat());
  for (const trace of traces) {
    const [root, child] = spans.filter((span) => span.trace === trace);
    assert.equal(first.includes(root.span), first.includes(child.span));
  }
});

test("what is sent on is compressed if the export says so", async () => {
  const long = request({ span: freshId(8), attributes: { a: "b".repeat(5000) } });
  assert.equal((await ask(both, { headers: { "content-type": PROTOBUF }, body: long })).status, 200);
  assert.deepEqual([sink.seen, second.seen].map(([{ headers }]) => headers["content-encoding"]), [undefined, "gzip"]);
  assert.deepEqual([sink.seen[0].body, gunzipSync(second.seen[0].body)], [Buffer.from(long), Buffer.from(long)]);
});

test("the answer waits for every export; closing waits for the answer", async () => {
  let release = () => {};
  const arrived = new Promise((resolve) => (second.onRequest = () => resolve(undefined)));
  second.answer = { status: 200, waitFor: new Promise((resolve) => (release = () => resolve(undefined))) };
  const { close, urls } = await startCollector({ receive: anywhere, exports: [sink.target(), second.target()] });
  let isAnswered = false;
  const answer = ask(urls[0], { headers: { "content-type": PROTOBUF }, body }).then((given) => {
    isAnswered = true;
    return given;
  });
  await arrived;
  const closed = close();
  // A connection that has said nothing does not keep it open.
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual([isAnswered, sink.seen.length], [false, 1]);
  release();
  assert.equal((await answer).status, 200);
  await closed;
  await assert.rejects(ask(urls[0], { body }), { code: "ECONNREFUSED" });
});

/** @param {import("./support/sink.js").Sink} backend How often each span came to it, by name. */
async function namesAt(backend) {
  /** @type {Record<string, number>} */
  const names = {};
  for (const { body } of backend.seen) {
    const { resourceSpans } = await message("Request", { type: PROTOBUF, body });
    for (const { scopeSpans } of resourceSpans) for (const { name } of scopeSpans[0].spans) names[name] = (names[name] ?? 0) + 1;
  }
  return names;
}

/**
 * Sends requests while the first is held up at the backend, so that they go on together.
 *
 * @param {Uint8Array[]} bodies
 * @param {() => void} [then] What happens before the first is let go.
 * @param {import("../../collector/src/types.js").ExportTarget} [target]
 */
async function together(bodies, then = () => {}, target = sink.target()) {
  const [to] = (await startAlone(target)).urls;
  let release = () => {};
  const arrived = new Promise((resolve) => (sink.onRequest = () => void (sink.seen.length === 2 && resolve(undefined))));
  sink.answer = { status: 200, waitFor: new Promise((resolve) => (release = () => resolve(undefined))) };
  const headers = { "content-type": PROTOBUF };
  const first = [1, 2].map((number) => ask(to, { headers, body: request({ span: freshId(8), name: `first ${number}` }) }));
  await arrived;
  const rest = bodies.map((body) => ask(to, { headers, body }));
  // They have arrived when they are held.
  await new Promise((resolve) => setTimeout(resolve, 300));
  then();
  sink.onRequest = () => {};
  release();
  await Promise.all(first);
  return Promise.all(rest);
}

async function startAlone(target = sink.target()) {
  const collector = await startCollector({ receive: anywhere, exports: [target] });
  collectors.push(collector);
  return collector;
}

const named = (/** @type {string} */ name, /** @type {any} */ attributes = { "mlflow.spanOutputs": OUTPUT }) => request({ span: freshId(8), name, attributes });

test("small requests that come while others are under way go on together", async () => {
  const answers = await together(Array.from({ length: 20 }, (_, number) => named(`span ${number}`)));
  assert.ok(answers.every(({ status, body }) => status === 200 && body.length === 0));
  assert.equal(sink.seen.length, 3);
  const names = await namesAt(sink);
  assert.deepEqual(Object.values(names), Array(22).fill(1));
});

test("one among them that cannot be decoded, or is refused, is alone in it", async () => {
  let list = varintField(3, 1n);
  for (let depth = 0; depth < 2000; depth++) list = bytesField(5, bytesField(1, list));
  const undecoded = await together([named("good"), named("deep", { list }), named("better")]);
  const said = await Promise.all(undecoded.map(async (answer) => (await message("Response", answer)).partialSuccess?.errorMessage));
  assert.deepEqual(said, [undefined, "1 spans forwarded undecoded: limit_exceeded", undefined]);
  assert.equal(sink.seen.length, 5);

  sink.seen = [];
  const refusals = await together([named("good"), named("bad"), named("better")], () => void (sink.answer = (sent) => (sent.includes("bad") ? BAD : OK)));
  assert.deepEqual(refusals.map(({ status }) => status), [200, 400, 200]);
});

test("to Trackio each goes alone: what it stores depends on what is in one request", async () => {
  const answers = await together(Array.from({ length: 3 }, (_, number) => named(`span ${number}`)), undefined, { backend: "trackio", url: sink.url, options: { project: "alone" } });
  assert.ok(answers.every(({ status }) => status === 200));
  assert.deepEqual(sink.seen.map(({ body }) => JSON.parse(String(body)).logs.length), [1, 1, 1, 1, 1]);
});

test("a page in place of an answer is none of the backend", async () => {
  sink.answer = { status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>Log in</title>" };
  await refused(url, { body }, 503, /status 502/);
});

test("what may succeed later is told to all of them", async () => {
  const answers = await together([named("one"), named("other")], () => void (sink.answer = BUSY));
  assert.deepEqual(answers.map(({ status, headers }) => [status, headers["retry-after"]]), Array(2).fill([429, "3"]));
  assert.equal(sink.seen.length, 3);
});
