/** What `token2text/rollout-trace` records of calls, and that the calls notice nothing of it. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { preset } from "../../pkg/exporters/otlp.js";
import { chooseSamples, flush, init, shutdown, stats, traced, withAttributes } from "../../pkg/rollout-trace.js";
import { failure } from "./support/expect.js";
import { recorded, server, spans, start } from "./support/tracing.js";

/** Each trace as names inside each other. @returns {Promise<any[]>} */
async function trees() {
  const all = await spans();
  /** @type {(id?: string) => any[]} */
  const inside = (id) => all.filter(({ parentId }) => parentId === id).map(({ name, spanId }) => [name, ...inside(spanId)]);
  return inside(undefined);
}

test("without init, and after shutdown, a traced function does what it did", async () => {
  const add = traced("add", (/** @type {number} */ a, /** @type {number} */ b) => a + b);
  assert.equal(add(1, 2), 3);
  assert.equal(withAttributes({ step: 1 }, () => add(1, 2)), 3);
  assert.deepEqual(await flush(), { open: 0, recorded: 0, waiting: 0, sent: 0, dropped: 0, failed: 0, undecoded: 0 });
  await init({ backend: null });
  assert.equal(add(1, 2), 3);
  await start();
  await shutdown();
  assert.equal(add(1, 2), 3);
  assert.equal(stats().recorded, 0);
  assert.deepEqual(chooseSamples([1, 2]), [false, false]);
});

test("a function keeps its name, length, this, result and what it throws", async () => {
  await start();
  class Client {
    factor = 2;
    times = traced("Client.times", /** @this {Client} */ function times(/** @type {number} */ n) {
      return n * this.factor;
    });
  }
  const client = new Client();
  assert.equal(client.times(4), 8);
  assert.deepEqual([client.times.name, client.times.length], ["times", 1]);
  const Tool = traced("Tool", /** @type {any} */ (class { static kind = "static"; }));
  assert.deepEqual([Tool.kind, new Tool() instanceof Tool], ["static", true]);
  const object = { token_ids: [1] };
  assert.equal(traced("same", () => object)(), object);
  assert.equal(await traced("same", async () => object)(), object);
  const error = new RangeError("no room");
  assert.throws(traced("throws", () => { throw error; }), (thrown) => thrown === error);
  await assert.rejects(traced("rejects", async () => { throw error; }), (thrown) => thrown === error);
  for (const odd of [undefined, null, 0, "text", Symbol("odd")]) {
    await assert.rejects(traced("odd", async () => { throw odd; }), (/** @type {unknown} */ thrown) => thrown === odd);
  }
  const [times, , , throws, , ...odds] = await recorded();
  assert.deepEqual([times.inputs, times.output], [{ arg0: 4 }, 8]);
  assert.deepEqual([throws.status, throws.exception_type], ["error", "RangeError"]);
  assert.deepEqual(odds.map(({ exception_type: type }) => type), ["undefined", "object", "number", "string", "symbol"]);
});

test("calls are nested as they were made, also in parallel and through timers and events", async () => {
  await start({ backend: "mlflow" });
  const leaf = traced("leaf", async (/** @type {number} */ millis) => sleep(millis));
  const emitter = new EventEmitter();
  const node = traced("node", async (/** @type {number} */ i) => {
    await Promise.all([leaf(5 * (3 - i)), leaf(2)]);
    await new Promise((resolve) => setTimeout(() => resolve(leaf(1)), 1));
    if (i === 0) emitter.once("event", () => void leaf(0));
    if (i === 0) emitter.emit("event");
    sync(i);
  });
  const sync = traced("sync", (/** @type {number} */ i) => i);
  await Promise.all([0, 1, 2].map((i) => withAttributes({ sampleIndex: i, name: `loop ${i}` }, () => node(i))));
  await leaf(0);
  const found = await trees();
  const leaves = (/** @type {number} */ count) => Array.from({ length: count }, () => ["leaf"]);
  const sorted = (/** @type {any} */ tree) => [tree[0], ["node", ...tree[1].slice(1).sort()]];
  assert.deepEqual(found.filter(([name]) => name !== "leaf").map(sorted).sort(), [
    ["loop 0", ["node", ...leaves(4), ["sync"]]],
    ["loop 1", ["node", ...leaves(3), ["sync"]]],
    ["loop 2", ["node", ...leaves(3), ["sync"]]],
  ]);
  assert.deepEqual(found.filter(([name]) => name === "leaf"), [["leaf"]]);
});

test("times are those of the calls, and fit each other", async () => {
  await start({ backend: "otlp" });
  const before = BigInt(Date.now()) * 1_000_000n;
  const inner = traced("inner", () => sleep(20));
  await withAttributes({ step: 1 }, traced("outer", () => inner()));
  const all = await spans();
  const [first, second, third] = all.map(({ startUnixNano, endUnixNano }) => [BigInt(startUnixNano ?? 0), BigInt(endUnixNano ?? 0)]);
  assert.ok(before - 2_000_000n < third[0] && third[0] <= second[0] && second[0] <= first[0]);
  assert.ok(first[0] + 15_000_000n < first[1] && first[1] <= second[1] && second[1] <= third[1]);
  assert.ok(third[1] <= BigInt(Date.now() + 2) * 1_000_000n);
  assert.deepEqual(all.map(({ name, step, validate }) => [name, step, validate]), [["inner", 1, false], ["outer", 1, false], ["rollout_trace", 1, false]]);
});

test("a call that is cancelled is recorded with its AbortError", async () => {
  await start({ backend: "mlflow" });
  const controller = new AbortController();
  const wait = traced("wait", (/** @type {{ millis: number }} */ { millis }) => sleep(millis, undefined, { signal: controller.signal }));
  const running = withAttributes({ sampleIndex: 1 }, () => wait({ millis: 60_000 }));
  assert.equal(stats().open, 2);
  controller.abort();
  await assert.rejects(running, { name: "AbortError" });
  const all = await spans();
  assert.deepEqual(all.map(({ name, status, error }) => [name, status, error]), [
    ["wait", "error", "AbortError: The operation was aborted"],
    ["rollout_trace", "error", "AbortError: The operation was aborted"],
  ]);
  assert.match(all[0].events ?? "", /exception\.stacktrace/);
  assert.deepEqual(JSON.parse(all[0].inputs ?? ""), { millis: 60_000 });
  assert.equal(all[0].output, undefined);
});

test("generators and iterators pass, and are recorded when they end", async () => {
  await start();
  const inner = traced("inner", () => 1);
  const items = traced("items", async function* (/** @type {{ count: number }} */ { count }) {
    for (let i = 0; i < count; i++) yield { token_ids: [i + inner()] };
    return "length";
  });
  const all = [];
  for await (const item of items({ count: 3 })) all.push(item);
  assert.equal(all.length, 3);
  for await (const _item of items({ count: 9 })) break;
  const sync = traced("sync", /** @returns {Generator<unknown, void, unknown>} */ function* () {
    const got = yield 1;
    yield got;
  });
  const iterator = sync();
  const steps = [iterator.next(), iterator.next("given"), iterator.next()];
  assert.deepEqual(steps, [{ value: 1, done: false }, { value: "given", done: false }, { value: undefined, done: true }]);
  const error = new Error("in the middle");
  const failing = traced("failing", async () => (async function* () { yield 1; throw error; })());
  await assert.rejects(async () => { for await (const _item of await failing()); }, (thrown) => thrown === error);
  const plain = { next: () => ({ done: true, value: undefined }), [Symbol.iterator]() { return this; } };
  assert.deepEqual([...traced("plain", () => plain)()], []);

  const found = (await recorded()).filter(({ op }) => op !== "inner");
  assert.deepEqual(found.map(({ op, output, status }) => [op, status, output]), [
    ["items", "success", { yielded: [{ token_ids: [1] }, { token_ids: [2] }, { token_ids: [3] }], returned: "length" }],
    ["items", "success", { yielded: [{ token_ids: [1] }] }],
    ["sync", "success", { yielded: [1, "given"] }],
    ["failing", "error", undefined],
    ["plain", "success", { yielded: [] }],
  ]);
});

test("what a trajectory makes is in it, also in a generator", async () => {
  await start();
  const inner = traced("inner", () => 1);
  const steps = withAttributes({ sampleIndex: 5 }, function* () { yield inner(); });
  assert.deepEqual([...steps], [1]);
  assert.equal((await recorded())[0].sample_index, 5);
});

test("other promises and streams are passed on as they are", async () => {
  await start();
  class Lazy extends Promise {
    asked = 0;
    /** @override @param {any} args */
    then(...args) {
      this.asked++;
      return super.then(...args);
    }
  }
  const lazy = new Lazy((resolve) => resolve(1));
  const stream = new ReadableStream();
  const thenable = { then: assert.fail };
  for (const value of [lazy, stream, thenable]) assert.equal(traced("value", () => value)(), value);
  assert.equal(lazy.asked, 0);
  const [first, second] = await recorded();
  assert.deepEqual([first.output, second.output], ["<Lazy>", "<ReadableStream>"]);
});

test("trajectories inside each other, and ones that are not traced", async () => {
  await start();
  const call = traced("call", (/** @type {{ id: string }} */ given) => given);
  withAttributes({ step: 1, sampleIndex: 2, rolloutN: 3, validate: true }, () => {
    call({ id: "outer" });
    withAttributes({ sampleIndex: "other" }, () => call({ id: "inner" }));
    withAttributes({ trace: false }, () => {
      call({ id: "off" });
      withAttributes({ step: 5, trace: true }, () => call({ id: "stays off" }));
    });
    call({ id: "outer again" });
  });
  const attributesOf = (/** @type {any} */ metadata) => ["step", "sample_index", "rollout_n", "validate", "experiment_name"].map((key) => metadata[key]);
  const found = (await recorded()).map((metadata) => [metadata.inputs.id, ...attributesOf(metadata)]);
  assert.deepEqual(found, [
    ["outer", 1, 2, 3, true, "e"],
    ["inner", undefined, "other", undefined, false, "e"],
    ["outer again", 1, 2, 3, true, "e"],
  ]);
});

test("of each step the first samples are traced, with all of their rollouts", async () => {
  await start({ maxSamplesPerStepPerWorker: 2 });
  const call = traced("call", () => null);
  for (const step of [1, 2]) {
    for (const [sampleIndex, rolloutN] of [[7, 0], [8, 0], [9, 0], [7, 1], [9, 1], [8, 1]]) withAttributes({ step, sampleIndex, rolloutN }, call);
  }
  withAttributes({ step: 1, validate: true, sampleIndex: 9 }, call);
  const found = (await recorded()).map(({ step, sample_index, rollout_n, validate }) => [step, sample_index, rollout_n, validate].join(" "));
  const ofAStep = ["7 0 false", "8 0 false", "7 1 false", "8 1 false"];
  assert.deepEqual(found, [...ofAStep.map((rest) => `1 ${rest}`), ...ofAStep.map((rest) => `2 ${rest}`), "1 9  true"]);
});

test("of a batch samples are chosen as verl does", async () => {
  await start({ maxSamplesPerStepPerWorker: 2 });
  const batch = [7, 7, 8, 8, 9, 9, 7];
  /** @type {Record<string, number>} */
  const times = {};
  for (let i = 0; i < 600; i++) {
    const isTraced = chooseSamples(batch);
    const chosen = new Set(batch.filter((_, row) => isTraced[row]));
    assert.deepEqual(isTraced, batch.map((index) => chosen.has(index)));
    assert.equal(chosen.size, 2);
    for (const index of chosen) times[index] = (times[index] ?? 0) + 1;
  }
  // 400 each, give or take more than five standard deviations.
  for (const index of [7, 8, 9]) assert.ok(Math.abs(times[index] - 400) < 65, `${index}: ${times[index]}`);
  assert.deepEqual(chooseSamples([1, 2, 1]), [true, true, true]);
  await shutdown();
  await start({ maxSamplesPerStepPerWorker: 0 });
  assert.deepEqual(chooseSamples([1, 2]), [false, false]);
  withAttributes({ step: 1 }, traced("call", () => null));
  assert.deepEqual(await recorded(), []);
  await shutdown();
  await start({ maxSamplesPerStepPerWorker: null });
  assert.deepEqual(chooseSamples([1, 2]), [true, true]);
  withAttributes({ step: 1 }, traced("call", () => null));
  assert.equal((await recorded()).length, 1);
});

test("OTLP's presets are servers, and show what was recorded", async () => {
  await init({ backend: "otlp", experimentName: "e", server: preset("phoenix", { url: server.url, project: "agents" }) });
  traced("call", (/** @type {object} */ _given) => ({ answer: 1 }))({ asked: "?" });
  const [{ attributes }] = await spans();
  const { "input.value": input, "output.value": output } = JSON.parse(attributes ?? "");
  assert.deepEqual([input, output], ['{"asked":"?"}', '{"answer":1}']);
  assert.ok(server.bodies("/v1/traces")[0].includes("agents"));
});

test("options that cannot be are refused", async () => {
  const good = { backend: "trackio", projectName: "p", experimentName: "e", server: { url: server.url } };
  /** @type {[any, RegExp][]} */
  const cases = [
    [{ ...good, backend: "wandb" }, /"mlflow", .* or null, not "wandb"/],
    [{ ...good, projectName: undefined }, /`projectName`/],
    [{ ...good, experimentName: "" }, /`experimentName`/],
    [{ ...good, maxSamplesPerStepPerWorker: -1 }, /`maxSamplesPerStepPerWorker`/],
    [{ ...good, maxQueueBytes: 1.5 }, /`maxQueueBytes`/],
    [{ ...good, server: { url: "nowhere" } }, /address/],
    [{ ...good, token2text: true }, /tokenizer/],
    [{ ...good, tokens: true }, /no option `tokens`/],
  ];
  for (const [options, words] of cases) await assert.rejects(init(options), failure("invalid_options", words));
  await assert.rejects(init({ ...good, backend: "trackio", token2text: "/no/such/tokenizer.json" }), failure("unreadable_source", /tokenizer\.json/));
  assert.throws(() => traced("x", /** @type {any} */ (1)), failure("invalid_options", /a function, not 1/));
  assert.equal(traced("x", () => 1)(), 1);
  await init({ backend: "otlp", experimentName: "OTLP has no projects", server: { url: server.url } });
  await assert.rejects(start(), failure("invalid_options", /on already/));
});
