/** A collector with a store: when it acknowledges, what it refuses, and what is read back. */
import assert from "node:assert/strict";
import http from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { DEFAULTS } from "../../collector/src/configuration/defaults.js";
import { splitSpans } from "../../pkg/exporters/otlp-request.js";
import { OtlpExporter, toProtobuf } from "../../pkg/exporters/otlp.js";
import { freshId, request } from "../integration/support/fixtures.js";
import { enricherOf, recorded } from "./support/bodies.js";
import { anywhere, startCollector, tokenizerFile } from "./support/collector.js";
import { fetched } from "./support/fetched.js";
import { freshFolder } from "./support/folders.js";
import { logLines } from "./support/pool.js";
import { tinyTokenizer } from "./support/tiny-tokenizer.js";

/** @typedef {Awaited<ReturnType<typeof startCollector>>} Collector */
/** @type {typeof import("better-sqlite3")} */
const Database = createRequire(new URL("../../collector/package.json", import.meta.url))("better-sqlite3");
const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";
const MIB = 1 << 20;
const TOKEN = "token-of-the-tests";
const folder = freshFolder();
const enricher = enricherOf("qwen3");
const tokenizers = [{ pattern: "*", file: tinyTokenizer(folder) }];
/** @type {Collector[]} */
const collectors = [];
let files = 0;

/** @param {Partial<import("../../collector/src/types.js").Configuration["store"]>} [store] @param {object} [more] */
async function storing(store, more) {
  const file = join(folder, `${++files}.db`);
  const { log, lines } = logLines();
  const collector = await startCollector({ receive: anywhere, admin: anywhere, store: { file, bytes: 64 * MIB, ...store }, tokenizers, ...more }, log);
  collectors.push(collector);
  const [url, admin] = collector.urls;
  return { collector, file, lines, url: `${url}/v1/traces`, admin };
}
after(() => Promise.all(collectors.map((collector) => collector.close())));

/** @param {string} url @param {Uint8Array | string} body @param {Record<string, string>} [headers] */
const send = (url, body, headers) => fetched(url, { method: "POST", headers: { "content-type": PROTOBUF, ...headers }, body: /** @type {BodyInit} */ (body) });
/** @param {string} url @param {RequestInit} [init] */
const json = async (url, init) => /** @type {any} */ ((await fetched(url, init)).json());
/** @param {string} url */
const bytes = async (url) => new Uint8Array(await (await fetched(url)).arrayBuffer());
/** Spans by their ids. @param {Uint8Array} body */
const spansIn = (body) => new Map(splitSpans(body).map(({ traceId, spanId, bytes }) => [`${traceId} ${spanId}`, Buffer.from(bytes)]));

/** @param {string} trace @param {string} [output] */
const oneSpan = (trace, output = '{"token_ids":[52491,83592]}') => request({ trace, span: freshId(8), attributes: { "mlflow.spanOutputs": output } });

/** @type {Awaited<ReturnType<typeof storing>>} */
let first;
before(async () => {
  first = await storing({}, { tokenizers: [{ pattern: "*", file: tokenizerFile }] });
});

test("what is acknowledged is committed; those that come together share a transaction, and their order is kept", async () => {
  const { url, file, admin } = first;
  const beside = new Database(file, { readonly: true });
  const found = beside.prepare("SELECT count(*) FROM traced WHERE instr(traces, ?)").pluck();
  const traces = Array.from({ length: 300 }, () => freshId(16));
  // While somebody else writes, all of them come.
  const writer = new Database(file);
  writer.exec("BEGIN IMMEDIATE");
  setTimeout(() => writer.exec("COMMIT"), 500);
  await Promise.all(traces.map(async (trace) => {
    const { status } = await send(url, oneSpan(trace));
    assert.deepEqual([status, found.get(Buffer.from(trace, "hex"))], [200, 1]);
  }));
  writer.close();
  const metrics = await (await fetched(`${admin}/metrics`)).text();
  const number = (/** @type {string} */ name) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(metrics)?.[1]);
  assert.equal(number("token2text_stored_bodies_total"), 300);
  const transactions = number("token2text_store_seconds_count");
  assert.ok(transactions > 0 && transactions < 150, `${transactions} transactions`);
  const inTurn = Array.from({ length: 10 }, () => freshId(16));
  for (const trace of inTurn) await send(url, oneSpan(trace));
  const stored = beside.prepare("SELECT hex(substr(traces, 5)) FROM traced ORDER BY body DESC LIMIT 10").pluck().all();
  assert.deepEqual(stored.reverse(), inTurn.map((trace) => trace.toUpperCase()));
  beside.close();
});

test("bodies are stored as they came, decompressed; those without spans are not stored", async () => {
  const { url, file, collector } = await storing();
  const given = oneSpan(freshId(16));
  const text = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: freshId(16), spanId: freshId(8), name: "é" }] }] }] }, null, 2);
  await send(url, gzipSync(given), { "content-encoding": "gzip" });
  await send(url, text, { "content-type": `${JSON_TYPE}; charset=utf-8` });
  for (const [body, type] of [["", PROTOBUF], ["{}", JSON_TYPE], [Buffer.from("0a0212001a00", "hex"), PROTOBUF]]) assert.equal((await send(url, body, { "content-type": String(type) })).status, 200);
  await collector.close();
  const database = new Database(file, { readonly: true });
  assert.deepEqual(database.prepare("SELECT type, spans, body FROM bodies").all(), [
    { type: PROTOBUF, spans: 1, body: Buffer.from(given) },
    { type: JSON_TYPE, spans: 1, body: Buffer.from(text) },
  ]);
  database.close();
});

test("what is no request is refused, and nothing of it is stored", async () => {
  const { url, collector } = await storing();
  const cases = /** @type {[Uint8Array | string, string, RegExp][]} */ ([
    ["garbage", PROTOBUF, /not OTLP as protocol buffers: damaged at byte/],
    [request({ trace: freshId(16), span: freshId(8), more: [Buffer.from("0affff", "hex")] }), PROTOBUF, /damaged in a span, or around spans/],
    // A group, which countSpans passes over.
    [Buffer.concat([oneSpan(freshId(16)), Buffer.from("7b7c", "hex")]), PROTOBUF, /damaged in a span, or around spans/],
    ['{"resourceSpa', JSON_TYPE, /not JSON/],
    ['{"resourceSpans":5}', JSON_TYPE, /resourceSpans is not a list/],
  ]);
  for (const [body, type, words] of cases) {
    const answer = await send(url, body, { "content-type": type });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), words);
  }
  assert.equal((await json(url)).traces.length, 0);
  await collector.close();
});

test("what is read is what was sent: the same spans, byte for byte; with texts; with ?raw=true as they came", async () => {
  const { url } = first;
  const { body } = recorded("js-proto-qwen3/01-v1-traces.pb");
  const second = recorded("js-proto-qwen3/02-v1-traces.pb").body;
  const sent = [body, second].map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes));
  for (const bytes of sent) assert.equal((await send(url, bytes)).status, 200);
  const expected = new Map(sent.flatMap((bytes) => [...spansIn(bytes)]));
  const traces = [...new Set([...expected.keys()].map((key) => key.slice(0, 32)))];
  assert.deepEqual(spansIn(await bytes(`${url}/${traces}?raw=true`)), expected);
  const answer = await fetched(`${url}/${traces.join()}`);
  assert.deepEqual([answer.headers.get("content-type"), answer.headers.get("cache-control"), answer.headers.get("token2text-missing")], [PROTOBUF, "no-store", null]);
  const withTexts = new Map(sent.flatMap((bytes) => [...spansIn(enricher.enrichBody(bytes, { contentType: PROTOBUF }).body)]));
  assert.deepEqual(spansIn(new Uint8Array(await answer.arrayBuffer())), withTexts);
  assert.notDeepEqual(withTexts, expected);
});

test("only the spans of the traces that were asked for come, with what is around them", async () => {
  const { url } = first;
  const [one, two] = [freshId(16), freshId(16)];
  const attributes = (/** @type {string} */ text) => ({ attributes: { text } });
  await send(url, request({ trace: one, span: freshId(8), ...attributes("a") }, { trace: two, span: freshId(8), ...attributes("b") }, { trace: one, span: freshId(8), ...attributes("c") }));
  const traceIds = splitSpans(await bytes(`${url}/${one}`)).map(({ traceId }) => traceId);
  assert.deepEqual(traceIds, [one, one]);
  assert.equal(splitSpans(await bytes(`${url}/${one.toUpperCase()},${two}`)).length, 3);
  // A whole body that is one trace's comes back with its resource and scope.
  const whole = recorded("js-proto-qwen3/02-v1-traces.pb").body;
  const plain = whole[0] === 0x1f ? gunzipSync(whole) : whole;
  const [{ resource, scope }] = splitSpans(plain);
  const again = splitSpans(await bytes(`${url}/${splitSpans(plain)[0].traceId}?raw=true`));
  assert.ok(again.some((span) => Buffer.from(span.resource.rest).equals(Buffer.from(resource.rest)) && Buffer.from(span.scope.rest).equals(Buffer.from(scope.rest))));
});

test("a span that was sent twice comes once, as it came last", async () => {
  const { url } = first;
  const [trace, span] = [freshId(16), freshId(8)];
  const versions = ["started", "ended"].map((state) => request({ trace, span, attributes: { state } }));
  await send(url, versions[0]);
  await send(url, request({ trace, span: freshId(8) }));
  await send(url, versions[1]);
  const spans = spansIn(await bytes(`${url}/${trace}?raw=true`));
  assert.equal(spans.size, 2);
  assert.deepEqual(spans.get(`${trace} ${span}`), spansIn(versions[1]).get(`${trace} ${span}`));
});

test("JSON comes back as protocol buffers; what these cannot hold is left out, and said", async () => {
  const { url } = first;
  const loose = recorded("synthetic-loose-json/body.json").body;
  await send(url, loose, { "content-type": JSON_TYPE });
  const converted = spansIn(toProtobuf(loose));
  const trace = [...converted.keys()][0].slice(0, 32);
  assert.deepEqual(spansIn(await bytes(`${url}/${trace}?raw=true`)), new Map([...converted].filter(([key]) => key.startsWith(trace))));
  const snake = freshId(16);
  await send(url, JSON.stringify({ resource_spans: [{ scope_spans: [{ spans: [{ trace_id: snake, span_id: freshId(8) }] }] }] }), { "content-type": JSON_TYPE });
  assert.equal(splitSpans(await bytes(`${url}/${snake}`)).length, 1, "both spellings are stored");
  const base64 = "W47/95gDgQPSabYzgT/GDA==";
  await send(url, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: base64, spanId: freshId(8) }] }] }] }), { "content-type": JSON_TYPE });
  const { traces } = await json(`${url}?limit=1000`);
  const odd = traces.find((/** @type {{ traceId: string }} */ { traceId }) => Buffer.from(traceId, "hex").toString() === base64);
  const answer = await fetched(`${url}/${odd.traceId}`);
  const { leftOut } = JSON.parse(answer.headers.get("token2text-missing") ?? "");
  assert.deepEqual([answer.status, leftOut.length, (await answer.arrayBuffer()).byteLength], [200, 1, 0]);
  assert.match(leftOut[0].reason, /an id is not hexadecimal/);
});

test("changed traces come in the order of their change, and from where one was", async () => {
  const { url, collector } = await storing();
  assert.deepEqual(await json(url), { traces: [], next: 0 });
  const traces = [freshId(16), freshId(16), freshId(16)];
  const sizes = [];
  for (const trace of [...traces, traces[0]]) {
    const body = oneSpan(trace);
    sizes.push(body.length);
    await send(url, body);
  }
  const all = await json(url);
  assert.deepEqual(all, {
    traces: [
      { traceId: traces[1], bodies: 1, bytes: sizes[1], changed: 2 },
      { traceId: traces[2], bodies: 1, bytes: sizes[2], changed: 3 },
      { traceId: traces[0], bodies: 2, bytes: sizes[0] + sizes[3], changed: 4 },
    ],
    next: 4,
  });
  assert.deepEqual(await json(`${url}?limit=1`), { traces: all.traces.slice(0, 1), next: 2 });
  assert.deepEqual(await json(`${url}?after=2`), { traces: all.traces.slice(1), next: 4 });
  assert.deepEqual(await json(`${url}?after=4`), { traces: [], next: 4 });
  assert.deepEqual(await json(`${url}?after=1000`), all, "a position of another store");
  // All traces of one body come together.
  await send(url, request(...traces.map((trace) => ({ trace, span: freshId(8) }))));
  const { traces: together, next } = await json(`${url}?after=4&limit=1`);
  assert.deepEqual([together.length, next], [3, 5]);
  await collector.close();
});

test("who waits is answered as soon as there is something, at the end of the time, or of the collector", async () => {
  const { url, collector } = await storing();
  const start = performance.now();
  assert.deepEqual(await json(`${url}?wait=1`), { traces: [], next: 0 });
  assert.ok(performance.now() - start > 900);
  const waiting = json(`${url}?wait=30`);
  setTimeout(() => send(url, oneSpan(freshId(16))), 100);
  assert.equal((await waiting).next, 1);
  const last = json(`${url}?after=1&wait=30`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await Promise.all([collector.close(), last]);
  assert.deepEqual(await last, { traces: [], next: 1 });
  assert.ok(performance.now() - start < 20_000);
});

test("traces that are more than fits into memory are refused, not cut", async () => {
  const { url, collector } = await storing({}, { limits: { ...DEFAULTS.limits, bodyBytes: 100_000, heldBytes: 250_000 } });
  const traces = Array.from({ length: 4 }, () => freshId(16));
  for (const trace of traces) assert.equal((await send(url, oneSpan(trace, "x".repeat(80_000)))).status, 200);
  const answer = await fetched(`${url}/${traces}`);
  assert.equal(answer.status, 413);
  assert.match((await answer.json()).message, /these traces have more than 250000 bytes; ask for fewer at once/);
  assert.equal(splitSpans(await bytes(`${url}/${traces.slice(1)}`)).length, 3);
  await collector.close();
});

test("what is asked for wrongly is said in words", async () => {
  const { url } = first;
  const cases = /** @type {const} */ ([
    ["?after=-1", 400, /after is not a whole number/],
    ["?limit=x", 400, /limit is not a whole number/],
    ["?wait=1.5", 400, /wait is not a whole number/],
    ["/xyz", 400, /a trace id is hexadecimal; write several with commas between/],
    [`/${Array(51).fill("ab")}`, 400, /at most 50 traces/],
    [`/${freshId(16)}`, 404, /the store has none of these traces; they may have been pruned/],
  ]);
  for (const [path, status, words] of cases) {
    const answer = await fetched(url + path);
    assert.equal(answer.status, status, path);
    assert.match((await answer.json()).message, words);
  }
});

/** By `node:http`, which sends whatever `Host` it is told. @param {string} url @param {Record<string, string>} headers @returns {Promise<import("node:http").IncomingMessage>} */
const ask = (url, headers) => new Promise((resolve, reject) => http.get(url, { headers }, (answer) => resolve(answer.resume())).on("error", reject));

test("readers need the token, as bearer or as the password of a browser, and the right Host and Origin", async () => {
  const { url, collector } = await storing({}, { access: { token: TOKEN, hosts: [], origins: [] } });
  const trace = freshId(16);
  assert.equal((await send(url, oneSpan(trace), { authorization: `Bearer ${TOKEN}` })).status, 200);
  const basic = (/** @type {string} */ login) => `Basic ${Buffer.from(login).toString("base64")}`;
  for (const path of [url, `${url}/${trace}`]) {
    for (const authorization of [`Bearer ${TOKEN}`, basic(`:${TOKEN}`), basic(`anybody:${TOKEN}`), basic(`a:${TOKEN}`).replace("Basic", "basic")]) {
      assert.equal((await ask(path, { authorization })).statusCode, 200, authorization);
    }
    for (const authorization of ["", basic(`${TOKEN}:`), basic(`a:${TOKEN}x`), basic(`a:b:${TOKEN}`), "Basic", "Basic ???", `Bearer ${TOKEN}x`]) {
      const { statusCode, headers } = await ask(path, authorization ? { authorization } : {});
      assert.equal(statusCode, 401, authorization);
      assert.match(String(headers["www-authenticate"]), /Basic realm="token2text"/);
    }
    const authorization = `Bearer ${TOKEN}`;
    assert.equal((await ask(path, { authorization, host: "rebound.example" })).statusCode, 403);
    assert.equal((await ask(path, { authorization, origin: "https://elsewhere.example" })).statusCode, 403);
    assert.equal((await ask(path, { authorization, origin: new URL(url).origin })).statusCode, 200);
  }
  await collector.close();
});

test("a full store refuses with 503 and says when to come back, in /health, in /metrics and in the log", async () => {
  const { url, admin, lines, collector } = await storing({ bytes: MIB });
  const body = request({ span: freshId(8), attributes: { text: "x".repeat(150_000) } });
  let answer = await send(url, body);
  let stored = 0;
  for (; answer.status === 200; answer = await send(url, body)) stored++;
  assert.ok(stored >= 5 && stored <= 6, `${stored}`);
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "10"]);
  const words = /the store has the 1048576 bytes of --store-size; give it more room, or let --store-age end what is old/;
  assert.match(await answer.text(), words);
  const { status: result, retryAfterMs, error } = /** @type {any} */ (await new OtlpExporter({ url: new URL(url).origin }).export(body));
  assert.deepEqual([result, retryAfterMs], ["retryable", 10_000]);
  assert.match(error.message, words);
  const health = await fetched(`${admin}/health`);
  const { status, store } = await health.json();
  assert.deepEqual([health.status, status, store.bodies, store.last], [503, "refusing", stored, stored]);
  assert.match(store.refusing, words);
  assert.ok(store.bytes <= MIB && store.bytes > stored * 150_000);
  const metrics = await (await fetched(`${admin}/metrics`)).text();
  for (const line of ["token2text_not_stored_total 2", "token2text_store_refusing 1", `token2text_store_bodies ${stored}`, `token2text_store_bytes ${store.bytes}`]) assert.ok(metrics.includes(`\n${line}\n`), line);
  assert.equal((await send(url, oneSpan(freshId(16)))).status, 200, "a small one has room");
  assert.deepEqual(lines.map((line) => JSON.parse(line)).filter(({ msg }) => /stored/.test(msg)).map(({ level, msg }) => [level, msg]), [[50, "what is received is not stored"], [30, "what is received is stored again"]]);
  assert.equal((await fetched(`${admin}/health`)).status, 200);
  await collector.close();
});
