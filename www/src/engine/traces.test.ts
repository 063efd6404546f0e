import assert from "node:assert/strict";
import { test } from "node:test";
import { read, write, type SpanInput } from "token2text";
import type { Row } from "./contract.js";
import { bodiesToSave, enrichedName } from "./save.js";
import { Search } from "./search.js";
import { Job } from "./jobs.js";
import { wholePart } from "./sources.js";
import { Tokenizers } from "./tokenizers.js";
import { Traces, type Opened } from "./traces.js";

const signal = new AbortController().signal;
const TRACES = ["a", "b", "c"].map((letter) => letter.repeat(32));

/** A call of a rollout that has so many, as a span of its trace. */
function call(trace: string, turn: number): SpanInput {
  const prompt = Array.from({ length: 4 + 3 * turn }, (_, at) => 100 + at);
  return {
    traceId: trace,
    spanId: `${turn + 1}`.padStart(16, trace[0]),
    parentId: "f".repeat(16),
    name: "LLMServerClient.generate",
    startUnixNano: `${1000 + turn}`,
    inputs: JSON.stringify({ request_id: `r${turn}`, prompt_ids: prompt }),
    output: JSON.stringify({ token_ids: [100 + prompt.length, 7] }),
  };
}

async function part(trace: string | undefined, spans: SpanInput[]) {
  return wholePart({ name: "collector", trace }, await write(spans, "otlp-proto"));
}

async function followed() {
  const tokenizers = new Tokenizers();
  const traces = new Traces(tokenizers);
  const opened = new Map<string, Opened>();
  const take = async (trace: string, turns: number) => {
    const added = await traces.add(await part(trace, Array.from({ length: turns }, (_, turn) => call(trace, turn))), opened.get(trace), signal);
    opened.set(trace, added.opened);
    return added;
  };
  return { tokenizers, traces, take };
}
const facts = (rows: readonly Row[]) => rows.map(({ at, key, turns, revision = 0 }) => [at, key, turns, revision]);

test("a rollout that grows keeps its place and its key, and no other changes", async () => {
  const { traces, take } = await followed();
  for (const trace of TRACES) await take(trace, 1);
  const before = [...traces.rows];
  const { opened, hasMoved } = await take(TRACES[1]!, 3);
  assert.deepEqual([opened.places, hasMoved], [[1], false]);
  assert.deepEqual(facts(traces.rows), [
    [0, `collector:${TRACES[0]}`, 1, 0],
    [1, `collector:${TRACES[1]}`, 3, 1],
    [2, `collector:${TRACES[2]}`, 1, 0],
  ]);
  assert.equal(traces.rows[0], before[0]);
  assert.equal(traces.rollout(1).calls.length, 3);
  assert.equal(traces.rollout(2).traceId, TRACES[2]);
  assert.equal(traces.bodies.length, 3);
});

test("a trace that had no rollout yet gets its place when it has one", async () => {
  const { traces, take } = await followed();
  await take(TRACES[0]!, 0);
  await take(TRACES[1]!, 1);
  await take(TRACES[0]!, 2);
  assert.deepEqual(facts(traces.rows), [
    [0, `collector:${TRACES[1]}`, 1, 0],
    [1, `collector:${TRACES[0]}`, 2, 0],
  ]);
  // With other tokenizers rows stay where they are.
  traces.use();
  assert.deepEqual(traces.rows.map(({ key }) => key), [`collector:${TRACES[1]}`, `collector:${TRACES[0]}`]);
});

test("a body that comes to have fewer rollouts has them listed anew, and so are all behind it", async () => {
  const { traces } = await followed();
  const lines = (texts: object[]) => wholePart({ name: "lines" }, new TextEncoder().encode(texts.map((text) => JSON.stringify(text)).join("\n")));
  const record = (id: string) => ({ inputs: { request_id: id, prompt_ids: [1, 2] }, outputs: { token_ids: [3] } });
  const first = await traces.add(lines([record("a"), record("b")]), undefined, signal);
  await traces.add(lines([record("c")]), undefined, signal);
  const { hasMoved, opened } = await traces.add(lines([record("b")]), first.opened, signal);
  assert.equal(hasMoved, true);
  assert.deepEqual(traces.rows.map(({ at, requestId }) => [at, requestId]), [[0, "c"], [1, "b"]]);
  assert.deepEqual(opened.places, [1]);
  assert.equal(traces.rollout(1).requestId, "b");
});

test("rollouts of one name are told apart, and are called the same when they are read again", async () => {
  const { traces } = await followed();
  const body = () => wholePart({ name: "lines" }, new TextEncoder().encode(JSON.stringify({ inputs: { request_id: "r", prompt_ids: [1] }, outputs: { token_ids: [3] } })));
  const one = await traces.add(body(), undefined, signal);
  await traces.add(body(), undefined, signal);
  await traces.add(body(), undefined, signal);
  const keys = ["lines:r", "lines:r~2", "lines:r~3"];
  assert.deepEqual(traces.rows.map(({ key }) => key), keys);
  await traces.add(body(), one.opened, signal);
  assert.deepEqual(traces.rows.map(({ key }) => key), keys);
});

test("what was found in a rollout before it has grown is forgotten, in others it is kept", async () => {
  const { tokenizers, traces, take } = await followed();
  for (const trace of TRACES) await take(trace, 1);
  const search = new Search(traces, tokenizers);
  const find = async (rollouts?: number[]) => {
    const found: [rollout: number, call: number][] = [];
    await search.run({ text: "7", kind: "ids", matchCase: false }, { rollouts, limit: 100 }, new Job(signal), (hits) => found.push(...hits.map(({ rollout, call }): [number, number] => [rollout, call])));
    return found;
  };
  assert.deepEqual(await find(), [[0, 0], [1, 0], [2, 0]]);
  const { opened } = await take(TRACES[1]!, 2);
  search.forget(opened.places);
  assert.deepEqual(await find([1]), [[1, 0], [1, 1]]);
  assert.deepEqual(await find(), [[0, 0], [1, 0], [1, 1], [2, 0]]);
});

test("what is followed is saved as one file, whose spans are those of its traces as they are now", async () => {
  const { traces, take } = await followed();
  for (const trace of TRACES) await take(trace, 1);
  await take(TRACES[0]!, 2);
  await traces.add(wholePart({ name: "calls.jsonl.gz" }, new TextEncoder().encode("{}")), undefined, signal);
  const [file, request, ...others] = bodiesToSave(traces.bodies);
  assert.deepEqual([others, enrichedName(file), enrichedName(request)], [[], "calls.text.jsonl", "collector.text.binpb"]);
  const spans = await read(new Uint8Array(await request.content.arrayBuffer()), { contentType: request.contentType });
  assert.deepEqual(spans.map(({ traceId }) => traceId).sort(), [TRACES[0], TRACES[0], TRACES[1], TRACES[2]]);
});
