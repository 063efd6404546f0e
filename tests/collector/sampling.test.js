/** Sampling: which samples are in, and what becomes of the others. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { KnownTraces, emptyTable } from "../../collector/src/enrichment/sampling/known-traces.js";
import { cutBody } from "../../collector/src/enrichment/sampling/pieces.js";
import { createSampler, sampleKey, traceKey } from "../../collector/src/enrichment/sampling/sampler.js";
import { parseExact } from "../../pkg/exporters/exact-json.js";
import { splitSpans } from "../../pkg/exporters/otlp-request.js";
import { read, write } from "../../pkg/node.js";
import { enricherOf, numbers, recorded, recordedBodies } from "./support/bodies.js";
import { startPool } from "./support/pool.js";

const direct = enricherOf("qwen3");
/** Bodies that are written to backends, in all formats. */
const written = recordedBodies().filter(({ body, contentType }) => cutBody(body, contentType));
const isProto = (/** @type {string} */ name) => name.endsWith(".pb");

/** The pieces of a body by other means. @param {string} name @param {Uint8Array} body @returns {any[]} */
function piecesOf(name, body) {
  if (isProto(name)) return splitSpans(body).map(({ bytes }) => Buffer.from(bytes));
  // Objects are Maps here, numbers keep their text.
  const root = /** @type {any} */ (parseExact(Buffer.from(body).toString()));
  const resources = root.get("resourceSpans") ?? root.get("resource_spans");
  if (!resources) return root.get("batch") ?? root.get("kwargs")?.get("logs") ?? root.get("logs") ?? root.get("spans") ?? [];
  const scopes = resources.flatMap((/** @type {any} */ resource) => resource.get("scopeSpans") ?? resource.get("scope_spans"));
  return scopes.flatMap((/** @type {any} */ scope) => scope.get("spans") ?? []);
}

test("all kinds of bodies have pieces", () => {
  /** @type {Record<string, number>} */
  const kinds = {};
  for (const { name } of written) kinds[name.split("/").at(-1)?.replace(/^\d+-/, "") ?? ""] = 1;
  const wanted = ["v1-traces.pb", "v1-traces.json", "trace-info.json", "put-traces-json.json", "calls-complete.json", "upsert-batch.json", "bulk-log.json"];
  assert.deepEqual(wanted.filter((kind) => !(kind in kinds)), [], Object.keys(kinds).join());
});

const sorted = (/** @type {any} */ { sampleIndex, step, validate, experimentName }) => ({ sampleIndex, step, validate, experimentName });

/** The piece that a span is in. @param {any[]} pieces @param {any} span @param {number} index */
function pieceAt(pieces, { path }, index) {
  const number = /\/(?:batch|logs)\/(\d+)/.exec(path)?.[1];
  return pieces.length === 1 ? pieces[0] : pieces[number === undefined ? index : Number(number)];
}

test("pieces say of themselves what token2text reads", async () => {
  let found = 0;
  for (const { name, body, contentType, url } of written) {
    const { pieces } = /** @type {any} */ (cutBody(body, contentType));
    for (const [i, span] of (await read(body, { contentType, url })).entries()) {
      const { traceId, samples } = pieceAt(pieces, span, i);
      const { sampleIndex, step, validate, experimentName } = span;
      const wanted = sampleIndex === undefined ? undefined : JSON.parse(JSON.stringify({ sampleIndex, step, validate, experimentName }));
      const seen = JSON.stringify(samples.map(sorted));
      if (wanted) assert.ok(seen.includes(JSON.stringify(sorted(wanted))), `${name} ${span.path}: ${seen}`);
      else assert.equal(seen, "[]", `${name} ${span.path}`);
      if (traceId !== undefined) assert.equal(traceId, span.traceId, `${name} ${span.path}`);
      if (wanted) found++;
    }
  }
  assert.ok(found > 80, `${found}`);
});

for (const format of /** @type {const} */ (["otlp-proto", "otlp-json", "mlflow", "weave", "trackio"])) {
  test(`pieces of what token2text writes as ${format} tell their samples`, async () => {
    const samples = [-1, 0, 3].map((step) => ({ experimentName: "é \" x", step, validate: step > 0, sampleIndex: 4 }));
    const spans = samples.map((sample, i) => ({ traceId: `${i + 1}`.repeat(32), spanId: `${i + 1}`.repeat(16), name: "run", rolloutN: 1, ...sample }));
    const body = await write(spans, format, { projectId: "e/p", project: "p", run: "r" });
    const cut = cutBody(body);
    assert.deepEqual(cut?.pieces.map((piece) => piece.samples.map(sorted)), samples.map((sample) => [sorted(sample)]));
  });
}

/** Which pieces to keep: both halves of a call, or none. @param {any[]} pieces @param {number} seed */
function choice(pieces, seed) {
  const below = numbers(seed);
  /** @type {Map<string, boolean>} */
  const byId = new Map();
  return pieces.map(({ id }, i) => {
    const key = id ?? String(i);
    if (!byId.has(key)) byId.set(key, below(2) === 0);
    return byId.get(key) === true;
  });
}

for (const { name, body, contentType, url } of written) {
  const cut = /** @type {import("../../collector/src/enrichment/sampling/pieces.js").CutBody} */ (cutBody(body, contentType));
  if (cut.pieces.length < 2) continue;
  test(`a part of ${name}`, () => {
    const before = piecesOf(name, body);
    const after = piecesOf(name, direct.enrichBody(body, { contentType, url }).body);
    for (let seed = 1; seed <= 4; seed++) {
      const kept = choice(cut.pieces, seed);
      const isKept = (/** @type {number} */ i) => kept[i];
      const selected = cut.select(isKept);
      assert.deepEqual(piecesOf(name, selected), before.filter((_, i) => kept[i]));
      if (!kept.includes(true)) continue;
      const hidden = /** @type {any} */ (cut.hide(isKept));
      const enriched = direct.enrichBody(hidden.body, { contentType, url });
      hidden.show(Buffer.from(enriched.body.buffer));
      assert.deepEqual(piecesOf(name, enriched.body), before.map((piece, i) => (kept[i] ? after[i] : piece)));
      const { totals } = direct.enrichBody(selected, { contentType, url }).report;
      const around = (/** @type {any} */ { select }) => select(() => false);
      assert.deepEqual(around(cutBody(enriched.body, contentType)), around(cut));
      const { spansWithoutIds } = enriched.report.totals;
      assert.deepEqual({ ...enriched.report.totals, spansWithoutIds: spansWithoutIds - hidden.standIns }, totals);
    }
    const all = cut.hide(() => false);
    const whole = Buffer.from(/** @type {any} */ (all).body);
    /** @type {any} */ (all).show(whole);
    assert.deepEqual(whole, Buffer.from(body));
    assert.deepEqual(Buffer.from(cut.select(() => true)), Buffer.from(body));
  });
}

/** Digests of the keys, by `sha256sum`: their first 48 bits. @type {[string, string][]} */
const DIGESTS = [
  [sampleKey({ experimentName: "qwen3-main", step: 3, validate: false, sampleIndex: 17 }), "e67f6ac4e155"],
  [sampleKey({ sampleIndex: 0 }), "8b0123e52f28"],
  [sampleKey({ experimentName: "é", step: -1, validate: true, sampleIndex: 4 }), "2d37a9266ae1"],
  [traceKey("c5ddc8ad0b9d6a4fd79d59c179f3870b"), "b58bfc014b45"],
];
for (const [key, digest] of DIGESTS) {
  test(`${key} is in from its share on, in every version`, () => {
    const share = Number.parseInt(digest, 16) / 2 ** 48;
    assert.equal(createSampler(share)(key), false);
    assert.equal(createSampler(share + 2 ** -48)(key), true);
    assert.equal(createSampler(1)(key), true);
  });
}

test("a share of the samples is in, and a larger share has them too", () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => sampleKey({ experimentName: "e", step: i >> 4, validate: false, sampleIndex: i & 15 }));
  const [tenth, half] = [0.1, 0.5].map((share) => new Set(keys.filter(createSampler(share))));
  assert.ok(Math.abs(tenth.size - 1000) < 100 && Math.abs(half.size - 5000) < 200, `${tenth.size} ${half.size}`);
  assert.ok([...tenth].every((key) => half.has(key)));
});

test("known traces are bounded, the newest are kept, and an answer can change", () => {
  const known = new KnownTraces(emptyTable());
  assert.equal(known.get("a"), undefined);
  known.set("a", true);
  assert.equal(known.get("a"), true);
  known.set("a", false);
  assert.equal(known.get("a"), false);
  for (let i = 0; i < 50_000; i++) known.set(`t${i}`, i % 2 === 0);
  const answers = Array.from({ length: 50_000 }, (_, i) => known.get(`t${i}`));
  assert.ok(answers.every((answer, i) => answer === undefined || answer === (i % 2 === 0)));
  const count = (/** @type {unknown[]} */ some) => some.filter((answer) => answer !== undefined).length;
  assert.ok(count(answers) <= 16_384 && count(answers.slice(-5000)) > 4900, `${count(answers)} ${count(answers.slice(-5000))}`);
});

test("known traces are known in every thread", async () => {
  const table = emptyTable();
  const url = new URL("../../collector/src/enrichment/sampling/known-traces.js", import.meta.url);
  const script = `import { KnownTraces } from ${JSON.stringify(url.href)};
    import { workerData } from "node:worker_threads";
    const known = new KnownTraces(workerData.table);
    for (let i = 0; i < 1000; i++) known.set(workerData.name + i, i % 3 === 0);`;
  const threads = ["a", "b"].map((name) => new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), { workerData: { table, name } }));
  await Promise.all(threads.map((thread) => once(thread, "exit")));
  const known = new KnownTraces(table);
  const answers = ["a", "b"].flatMap((name) => Array.from({ length: 1000 }, (_, i) => [known.get(name + i), i % 3 === 0]));
  assert.ok(answers.every(([answer, right]) => answer === undefined || answer === right));
  assert.ok(answers.filter(([answer]) => answer !== undefined).length > 1900);
});

/** A share that this key is within, or one that it is not within. @param {string} key @param {boolean} isIn */
function shareFor(key, isIn) {
  const share = [0.5, 0.9, 0.99, 0.1, 0.01, 0.001].find((candidate) => createSampler(candidate)(key) === isIn);
  assert.ok(share !== undefined);
  return share;
}

/** @param {import("../../collector/src/types.js").Enrichment} result */
function seen(result) {
  if (result.outcome === "undecoded") return result.reason;
  return { outcome: result.outcome, body: Buffer.from(result.body), leftOut: result.leftOut };
}

const info = recorded("verl-qwen3-ids/01-trace-info.json");
const ofTrace = recorded("verl-qwen3-ids/02-v1-traces.pb");
const infoKey = sampleKey({ experimentName: "qwen3-main", step: 3, validate: false, sampleIndex: 17 });
const traceIdKey = traceKey("c5ddc8ad0b9d6a4fd79d59c179f3870b");

for (const isIn of [true, false]) {
  test(`MLflow's spans are ${isIn ? "in" : "out"} as the sample that the trace info named, in every thread`, async () => {
    const share = shareFor(infoKey, isIn);
    const pool = await startPool({ workers: 2, sample: share });
    // Before anything is known of the trace, its id decides.
    const before = await pool.enrich({ ...ofTrace, sampling: "decode" });
    assert.equal(before.outcome, createSampler(share)(traceIdKey) ? "enriched" : "undecoded");
    const named = await pool.enrich({ ...info, sampling: "decode" });
    assert.equal(seen(named) === "not_sampled", !isIn);
    for (const result of await Promise.all(Array.from({ length: 8 }, () => pool.enrich({ ...ofTrace, sampling: "decode" })))) {
      assert.equal(result.outcome, isIn ? "enriched" : "undecoded");
    }
    // Who does not ask for sampling gets all.
    assert.equal((await pool.enrich(ofTrace)).outcome, "enriched");
    await pool.close();
  });
}

test("the second half of a Weave call goes with the first, in another body", async () => {
  const { body, ...rest } = recorded("weave-js-agent-llama3_1/01-upsert-batch.json");
  const { batch } = JSON.parse(body.toString());
  const starts = batch.filter((/** @type {any} */ { req }) => req.start?.attributes.sample_index === 4);
  const ids = starts.map((/** @type {any} */ { req }) => req.start.id);
  const ends = batch.filter((/** @type {any} */ { req }) => ids.includes(req.end?.id));
  assert.ok(starts.length > 1 && ends.length > 1);
  const key = sampleKey({ experimentName: "js", step: 12, validate: false, sampleIndex: 4 });
  for (const isIn of [true, false]) {
    const pool = await startPool({ sample: shareFor(key, isIn) });
    for (const half of [starts, ends]) {
      const result = await pool.enrich({ ...rest, body: Buffer.from(JSON.stringify({ batch: half })), sampling: "decode" });
      assert.equal(seen(result) === "not_sampled", !isIn);
    }
    await pool.close();
  }
});

test("a body of several samples: what is out comes back as it was, or is left out", async () => {
  const request = recorded("weave-python-verl-edge-llama2-ids/01-calls-complete.json");
  const before = JSON.parse(request.body.toString()).batch;
  const share = 0.5;
  const isIn = before.map((/** @type {any} */ { attributes: { experiment_name, step, validate, sample_index } }) =>
    createSampler(share)(sampleKey({ experimentName: experiment_name, step, validate, sampleIndex: sample_index })));
  assert.ok(isIn.includes(true) && isIn.includes(false));
  const after = JSON.parse(Buffer.from(direct.enrichBody(request.body, { url: request.url }).body).toString()).batch;
  const pool = await startPool({ sample: share });
  const results = await Promise.all(["decode", "select", undefined].map((sampling) => pool.enrich({ ...request, sampling: /** @type {any} */ (sampling) })));
  const [decoded, selected, all] = results.map((result) => JSON.parse(Buffer.from(/** @type {any} */ (result).body).toString()).batch);
  const out = isIn.filter((/** @type {boolean} */ piece) => !piece).length;
  assert.deepEqual(decoded, before.map((/** @type {any} */ piece, /** @type {number} */ i) => (isIn[i] ? after[i] : piece)));
  assert.deepEqual(selected, after.filter((/** @type {any} */ _, /** @type {number} */ i) => isIn[i]));
  assert.deepEqual(all, after);
  assert.deepEqual(results.map((result) => result.leftOut), [out, out, 0]);
  await pool.close();
});

test("with all samples in, nothing is looked at", async () => {
  const pool = await startPool({ sample: 1 });
  for (const sampling of /** @type {const} */ (["decode", "select"])) {
    for (const request of written.slice(0, 20)) {
      const { sampling: _, ...plain } = { ...request, sampling };
      assert.deepEqual(await pool.enrich({ ...request, sampling }), await pool.enrich(plain), request.name);
    }
  }
  await pool.close();
});

test("hostile bodies are sampled or passed on whole, never lost", async () => {
  const pool = await startPool({ sample: 0.5 });
  const below = numbers(11);
  const pieces = ["null", "[]", "{}", '"', "\\", ",", "{", "]", "[".repeat(100_000), '{"start":'.repeat(50_000), "\xff", "\x12\x00", "\x7a\x02"];
  for (const request of written.flatMap((one) => Array(4).fill(one))) {
    const at = below(request.body.length);
    const piece = Buffer.from(pieces[below(pieces.length)], "latin1");
    const body = Buffer.concat([request.body.subarray(0, at), piece, request.body.subarray(at + below(30))]);
    for (const sampling of /** @type {const} */ (["decode", "select"])) {
      const result = await pool.enrich({ ...request, body, sampling });
      if (result.outcome !== "undecoded") continue;
      assert.notEqual(result.reason, "worker_lost", request.name);
      assert.match(`${result.reason} ${result.message}`, /^(not_sampled|error (invalid_body|unknown_format|limit_exceeded|compressed_input))/, request.name);
    }
  }
  await pool.close();
});
