/** `openRollouts`: the same as `readRollouts` says, piece by piece; what numbers and rewards are is tested in Rust (tests/overview.rs). */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { Token2TextError, Tokenizer, openRollouts, read, readRollouts } from "../../pkg/node.js";

const TOKENIZERS = fileURLToPath(new URL("../../.cache/tokenizers", import.meta.url));
const FIXTURES = fileURLToPath(new URL("../fixtures", import.meta.url));
const CALLS = readFileSync(join(FIXTURES, "captures/verl-calls-qwen3/calls.jsonl"));
const MLFLOW = readFileSync(join(FIXTURES, "wire/mlflow/verl-qwen3-ids/15-get-trace-artifact.json"));
/** What `meta.json` of a capture is not a body. */
const NO_BODIES = /^(meta|expected)\.json$|\.md$/;

/** A body with two messages of the assistant in a row. */
const IN_A_ROW = "nemo-rl-messages.json";

/** @type {Map<string, Promise<Tokenizer>>} */
const loaded = new Map();
/** @param {string} name */
function tokenizerOf(name) {
  const known = existsSync(join(TOKENIZERS, name)) ? name : "qwen3";
  const tokenizer = loaded.get(known) ?? Tokenizer.load(join(TOKENIZERS, known, "tokenizer.json"));
  loaded.set(known, tokenizer);
  return tokenizer;
}

/** @type {Tokenizer} */
let qwen;
before(async () => {
  qwen = await tokenizerOf("qwen3");
});

/** Every recorded body, with the tokenizer of its ids. @returns {{ name: string, body: Buffer, tokenizer: string }[]} */
function bodies() {
  const found = [];
  for (const folder of readdirSync(join(FIXTURES, "captures"))) {
    const path = join(FIXTURES, "captures", folder);
    if (!statSync(path).isDirectory()) continue;
    const { tokenizer } = JSON.parse(readFileSync(join(path, "meta.json"), "utf8"));
    for (const file of readdirSync(path).filter((file) => !NO_BODIES.test(file))) {
      found.push({ name: `${folder}/${file}`, body: readFileSync(join(path, file)), tokenizer: [tokenizer].flat()[0] });
    }
  }
  for (const file of readdirSync(join(FIXTURES, "producers"))) {
    const { body, tokenizer } = JSON.parse(readFileSync(join(FIXTURES, "producers", file), "utf8"));
    found.push({ name: file, body: Buffer.from(JSON.stringify(body)), tokenizer });
  }
  for (const folder of readdirSync(join(FIXTURES, "wire/mlflow"))) {
    const path = join(FIXTURES, "wire/mlflow", folder);
    for (const file of statSync(path).isDirectory() ? readdirSync(path).filter((file) => /artifact\.json$|traces\.pb$/.test(file)) : []) {
      found.push({ name: `${folder}/${file}`, body: readFileSync(join(path, file)), tokenizer: "qwen3" });
    }
  }
  assert.ok(found.length > 100, `only ${found.length} bodies`);
  return found;
}

const sum = (/** @type {Record<string, number>} */ counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

test("of every recorded body the list says what the rollouts say, with and without a tokenizer", async () => {
  let rollouts = 0;
  let refused = 0;
  for (const { name, body, tokenizer } of bodies()) {
    const decoding = await tokenizerOf(tokenizer);
    let reader;
    try {
      reader = await openRollouts(body, decoding);
    } catch (error) {
      await assert.rejects(readRollouts(body, decoding), { code: /** @type {Token2TextError} */ (error).code });
      refused++;
      continue;
    }
    const whole = await readRollouts(body, decoding);
    const list = reader.overview();
    assert.deepEqual([list.length, reader.skipped], [whole.rollouts.length, whole.skipped], name);
    for (const [at, rollout] of whole.rollouts.entries()) {
      assert.deepEqual(reader.rollout(at), rollout, name);
      const { turns, calls, tokens, startUnixNano, endUnixNano, path, ...identity } = list[at];
      const { calls: itsCalls, statistics, findings, template, tokenizer: pattern, ...itsIdentity } = rollout;
      assert.deepEqual(identity, itsIdentity, name);
      // Without a template nobody knows the messages in a trajectory; a mask does not tell two in a row apart.
      const isUnlike = name === IN_A_ROW || (template === undefined && itsCalls[0].role === "trajectory");
      const itsTurns = isUnlike ? turns : statistics.turns;
      assert.deepEqual({ turns, calls, tokens, path }, { turns: itsTurns, calls: itsCalls.length, tokens: sum(statistics.tokens), path: itsCalls[0].path }, `${name} ${at}`);
      const numbers = reader.numbers(at);
      assert.equal(numbers.length, itsCalls.length);
      for (const [call, lists] of numbers.entries()) {
        assert.equal(new Set(lists.map((list) => list.name)).size, lists.length, name);
        for (const { values } of lists) assert.equal(values.length, itsCalls[call].ids.length);
        const span = reader.span(at, call);
        assert.deepEqual([span.path, span.spanId || undefined, span.name], [itsCalls[call].path, itsCalls[call].spanId, itsCalls[call].name]);
      }
      const spans = reader.spans(at);
      assert.deepEqual(spans.flatMap((span) => span.calls).sort((a, b) => a - b), itsCalls.map((_, call) => call), name);
      const starts = spans.flatMap((span) => span.startUnixNano ?? []).map(BigInt);
      assert.equal(startUnixNano, starts.length > 0 ? String(starts.reduce((a, b) => (a < b ? a : b))) : undefined);
      assert.ok(endUnixNano === undefined || BigInt(endUnixNano) >= BigInt(startUnixNano ?? 0));
      rollouts++;
    }
    reader.use({});
    const calls = reader.overview().reduce((sum, { calls }) => sum + calls, 0);
    assert.equal(calls, whole.rollouts.reduce((sum, rollout) => sum + rollout.calls.length, 0), name);
    reader.free();
  }
  assert.ok(rollouts > 100 && refused < 10, `${rollouts} rollouts, ${refused} bodies refused`);
});

test("a file that is read piece by piece into the same memory is the same", async () => {
  const lines = Array.from({ length: 400 }, (_, at) => JSON.stringify({ inputs: { request_id: `r${at >> 1}`, prompt_ids: Array.from({ length: 700 }, (_, id) => at * 7 + id) }, outputs: { token_ids: [at, at + 1] } }));
  const text = lines.join("\n");
  const known = await openRollouts(new TextEncoder().encode(text), {});
  assert.ok(text.length > 1.2e6 && known.length === 200);
  for (const source of [new Blob([text]), new Blob([gzipSync(text)])]) {
    const reader = await openRollouts(source, {});
    assert.deepEqual(reader.overview(), known.overview());
    for (const at of [0, 99, 199]) assert.deepEqual(reader.rollout(at), known.rollout(at));
    reader.free();
  }
  known.free();
});

test("a body is the same wherever it comes from, and is read while it comes", async () => {
  const known = await openRollouts(CALLS, qwen);
  const path = join(mkdtempSync(join(tmpdir(), "token2text-")), "calls.jsonl");
  writeFileSync(path, CALLS);
  async function* pieces() {
    for (let at = 0; at < CALLS.length; at += 1000) yield CALLS.subarray(at, at + 1000);
  }
  /** @type {Record<string, () => import("../../pkg/index.js").Source>} */
  const sources = {
    bytes: () => new Uint8Array(CALLS).buffer,
    blob: () => new Blob([CALLS]),
    gzip: () => new Blob([gzipSync(CALLS)]),
    response: () => new Response(CALLS),
    path: () => path,
    url: () => pathToFileURL(path),
    pieces,
  };
  for (const [name, source] of Object.entries(sources)) {
    const reader = await openRollouts(source(), qwen);
    assert.deepEqual(reader.overview(), known.overview(), name);
    assert.deepEqual(reader.rollout(1), known.rollout(1), name);
    reader.free();
  }
  /** @type {import("../../pkg/index.js").Progress[]} */
  const told = [];
  await openRollouts(path, {}, { onProgress: (progress) => told.push(progress) });
  assert.deepEqual(told.at(-1), { loaded: CALLS.length, total: CALLS.length });
  const controller = new AbortController();
  async function* stopped() {
    yield CALLS.subarray(0, 1000);
    controller.abort();
    yield CALLS.subarray(1000);
  }
  await assert.rejects(openRollouts(new Response(new ReadableStream({ pull: () => controller.abort() })), {}, { signal: controller.signal }), { code: "aborted" });
  await assert.rejects(openRollouts(stopped(), {}, { signal: controller.signal }), { code: "aborted" });
  const small = { limits: { bodyBytes: 2000 } };
  for (const source of [CALLS, new Blob([CALLS]), pieces()]) await assert.rejects(openRollouts(source, {}, small), { code: "limit_exceeded" });
});

test("without a tokenizer there is a list; with one, and with another, what readRollouts has", async () => {
  const reader = await openRollouts(CALLS, {});
  const bare = reader.overview();
  assert.deepEqual(reader.rollout(0).findings.map(({ code }) => code), ["no_tokenizer"]);
  reader.use(qwen);
  const { rollouts } = await readRollouts(CALLS, qwen);
  assert.deepEqual([reader.rollout(0), reader.rollout(1)], rollouts);
  assert.deepEqual(reader.overview(), bare);
  reader.use({ "other/*": qwen });
  assert.equal(reader.rollout(0).tokenizer, undefined);
  const limited = { maxTokens: 10 };
  reader.use(qwen, limited);
  assert.deepEqual(reader.rollout(0), (await readRollouts(CALLS, qwen, limited)).rollouts[0]);
  // What fails changes nothing.
  assert.throws(() => reader.use(qwen, { template: "gemma" }), { code: "invalid_options", message: /gemma/ });
  assert.throws(() => reader.use(qwen, { drift: true }), { code: "engine_not_available", message: /openRollouts/ });
  assert.throws(() => reader.use(/** @type {any} */ (7)), { code: "invalid_options" });
  assert.throws(() => reader.use(qwen, /** @type {any} */ ({ format: "otlp" })), { code: "invalid_options", message: /no option `format`/ });
  assert.deepEqual(reader.rollout(0), (await readRollouts(CALLS, qwen, limited)).rollouts[0]);
  assert.throws(() => reader.use({ "*": qwen }, { maxTokens: -1 }), { code: "invalid_options", message: /maxTokens/ });
  reader.free();
});

test("drift is looked for where it is asked for", async () => {
  const encoding = await Tokenizer.load(join(TOKENIZERS, "qwen3/tokenizer.json"), { engine: "general" });
  await assert.rejects(openRollouts(CALLS, qwen, { drift: true }), { code: "engine_not_available" });
  const reader = await openRollouts(CALLS, encoding, { drift: true });
  assert.deepEqual(reader.rollout(1), (await readRollouts(CALLS, encoding, { drift: true })).rollouts[1]);
  reader.use(encoding, { drift: false });
  assert.deepEqual(reader.rollout(1), (await readRollouts(CALLS, encoding)).rollouts[1]);
  reader.free();
  encoding.free();
});

test("numbers beside the tokens, and rewards", async () => {
  const ids = [9707, 11, 1879, 0, 151645];
  const record = {
    inputs: { prompt_ids: [1, 2] },
    outputs: { token_ids: ids, log_probs: [-0.1, -0.2, -0.3, -0.4, -1e-7], entropy: [0.5, null, 0.25, 1e300, 0], reward: 0.75 },
  };
  const reader = await openRollouts(Buffer.from(JSON.stringify(record)), qwen);
  const [[logprobs, entropy, ...more]] = reader.numbers(0);
  assert.deepEqual(more, []);
  assert.deepEqual(logprobs, { name: "logprobs", values: Float64Array.of(NaN, NaN, -0.1, -0.2, -0.3, -0.4, -1e-7) });
  assert.deepEqual(entropy, { name: "entropy", values: Float64Array.of(NaN, NaN, 0.5, NaN, 0.25, 1e300, 0) });
  assert.equal(entropy.values.buffer.byteLength, entropy.values.byteLength, "a buffer of its own");
  assert.deepEqual([reader.overview()[0].reward, reader.rollout(0).reward], [0.75, 0.75]);
  reader.free();
});

test("the spans of a trace around its calls", async () => {
  const spans = await read(MLFLOW);
  const reader = await openRollouts(MLFLOW, qwen);
  const { calls } = reader.rollout(0);
  const light = reader.spans(0);
  assert.deepEqual(light.map(({ calls, ...rest }) => rest), spans.map(({ spanId, parentId, name, startUnixNano, endUnixNano, status }) => (
    JSON.parse(JSON.stringify({ spanId, parentId, name, startUnixNano, endUnixNano, status }))
  )));
  assert.ok(light.some(({ calls }) => calls.length === 0), "one without ids");
  for (const [call, { path }] of calls.entries()) {
    const { fields, ...facts } = spans.find((span) => span.path === path) ?? assert.fail(path);
    assert.deepEqual(reader.span(0, call), facts);
  }
  assert.equal(reader.overview()[0].traceId, spans[0].traceId);
  reader.free();
});

test("positions out of range, a reader that was freed", async () => {
  const reader = await openRollouts(CALLS, qwen);
  assert.equal(reader.length, 2);
  const wrong = { name: "Token2TextError", code: "invalid_options" };
  for (const at of [2, -1, 0.5, NaN, Infinity, 2 ** 40, /** @type {any} */ ("0"), /** @type {any} */ (undefined)]) {
    assert.throws(() => reader.rollout(at), { ...wrong, message: /no rollout .*there are 2/ });
    assert.throws(() => reader.numbers(at), wrong);
    assert.throws(() => reader.spans(at), wrong);
    assert.throws(() => reader.span(at, 0), wrong);
    assert.throws(() => reader.span(0, at === 2 ? 99 : at), { ...wrong, message: /rollout 0 has no call/ });
    if (at !== 2 && at !== undefined) assert.throws(() => reader.overview(at), wrong);
  }
  assert.throws(() => reader.overview(3), wrong);
  assert.throws(() => reader.overview(1, 0), wrong);
  assert.deepEqual([reader.overview(2), reader.overview(1).length, reader.overview(0, 1).length, reader.overview(0, 9).length], [[], 1, 1, 2]);
  reader.free();
  reader.free();
  reader[Symbol.dispose]();
  const freed = { name: "Token2TextError", code: "freed" };
  for (const call of [
    () => reader.length,
    () => reader.overview(),
    () => reader.rollout(0),
    () => reader.numbers(0),
    () => reader.span(0, 0),
    () => reader.spans(0),
    () => reader.use(qwen),
  ]) {
    assert.throws(call, freed);
  }
  await assert.rejects(openRollouts(CALLS, qwen, /** @type {any} */ ({ drifts: true })), { code: "invalid_options", message: /no option `drifts`/ });
  await assert.rejects(openRollouts(CALLS, qwen, /** @type {any} */ ({ onProgress: 1 })), { code: "invalid_options" });
  await assert.rejects(openRollouts("no/such.jsonl", qwen), { code: "unreadable_source" });
  await assert.rejects(openRollouts(/** @type {any} */ (5), qwen), { code: "invalid_options", message: /the trace must be given as/ });
  await assert.rejects(openRollouts(CALLS, /** @type {any} */ (undefined)), { code: "invalid_options" });
  await assert.rejects(openRollouts(CALLS, qwen, { template: "gemma" }), { code: "invalid_options" });
  const { constructor } = reader;
  assert.throws(() => Reflect.construct(constructor, []), { code: "invalid_options", message: /openRollouts/ });
});
