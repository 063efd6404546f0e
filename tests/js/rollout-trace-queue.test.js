/** What becomes of records: slow and dead backends, bounds, decoding, the end of a process. Calls notice nothing of it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Tokenizer } from "../../pkg/node.js";
import { flush, shutdown, stats, traced, withAttributes } from "../../pkg/rollout-trace.js";
import { Tokenizer as WorkerTokenizer } from "../../pkg/worker-node.js";
import { freePort } from "../integration/support/servers.js";
import { failure } from "./support/expect.js";
import { byteIds, byteLevel, jsonBytes } from "./support/tokenizers.js";
import { recorded, server, start } from "./support/tracing.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");
const folder = mkdtempSync(join(tmpdir(), "token2text-trace-"));
const tokenizerFile = join(folder, "tokenizer.json");
writeFileSync(tokenizerFile, jsonBytes(byteLevel()));
after(() => rmSync(folder, { recursive: true }));

/** @type {unknown[]} */
const unhandled = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, []));

const FAST = { attempts: 3, initialBackoffMillis: 1 };
/** Nobody listens there. */
const DEAD = `http://127.0.0.1:${await freePort()}`;

/** Megabytes of live objects. */
async function heap() {
  collectGarbage();
  // Buffers are freed a little later.
  await sleep(20);
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

test("10,000 calls reach the backend, in order", async () => {
  await start();
  const call = traced("call", async (/** @type {{ i: number }} */ { i }) => i);
  await Promise.all(Array.from({ length: 10_000 }, (_, i) => withAttributes({ step: 1, sampleIndex: i }, () => call({ i }))));
  assert.deepEqual((await recorded()).map(({ output }) => output), Array.from({ length: 10_000 }, (_, i) => i));
  assert.ok(server.received.length <= 101, "in batches");
});

test("10,000 calls against a backend that does not answer hold bounded memory, and lose no time", async () => {
  let release = () => {};
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  server.fault = () => /** @type {Promise<void>} */ (held);
  await start({ maxQueueBytes: 2_000_000 });
  const call = traced("call", async (/** @type {{ prompt_ids: Uint32Array }} */ { prompt_ids }) => ({ token_ids: prompt_ids.slice() }));
  const before = await heap();
  const slowest = { millis: 0 };
  for (let i = 0; i < 10_000; i++) {
    const began = performance.now();
    await call({ prompt_ids: new Uint32Array(500) });
    slowest.millis = Math.max(slowest.millis, performance.now() - began);
    if (i % 1000 === 999) await sleep(1);
  }
  const { recorded: all, waiting, dropped, sent, failed, lastReason } = stats();
  assert.equal(all, 10_000);
  assert.deepEqual([sent, failed, waiting + dropped, lastReason], [0, 0, 10_000, "the queue was full"]);
  // 4,000 bytes a call, and what a record holds besides.
  assert.ok(waiting > 400 && waiting < 500, `${waiting} wait`);
  const grown = (await heap()) - before;
  assert.ok(grown < 15, `${grown} MB more, of 40 MB that were recorded`);
  // A wait for the backend would be longer.
  assert.ok(slowest.millis < 5000, `${slowest.millis} ms`);
  release();
  const told = await flush();
  assert.deepEqual([told.sent, told.waiting, told.dropped], [waiting, 0, dropped]);
});

test("calls that never settle are given up, the oldest first", async () => {
  await start({ maxQueueRecords: 100 });
  const never = traced("never", (/** @type {unknown} */ _given) => new Promise(() => {}));
  const before = await heap();
  const promises = Array.from({ length: 20_000 }, (_, i) => never({ ids: new Uint32Array(500), i }));
  const { open, dropped, lastReason } = stats();
  assert.deepEqual([open, dropped], [100, 19_900]);
  assert.match(String(lastReason), /not ended/);
  assert.ok((await heap()) - before < 15, "of 40 MB");
  assert.equal(promises.length, 20_000);
});

test("so are generators that never end", async () => {
  await start({ maxQueueBytes: 100_000 });
  const forever = traced("forever", function* () { for (;;) yield new Uint32Array(1000); });
  const generators = Array.from({ length: 20 }, () => forever());
  for (let i = 0; i < 100; i++) for (const generator of generators) assert.equal(generator.next().value?.length, 1000);
  const { open, dropped } = stats();
  assert.equal(open + dropped, 20);
  // 4,000 bytes each time.
  assert.equal(open, 0);
});

for (const backend of /** @type {const} */ (["mlflow", "trackio", "weave", "otlp"])) {
  test(`a dead ${backend}: it is tried again, then counted, and nobody is told but who asks`, async () => {
    await start({ backend, server: { url: DEAD }, retry: FAST });
    const call = traced("call", async () => "result");
    assert.equal(await call(), "result");
    const { recorded: all, failed, sent, waiting, lastReason } = await flush();
    assert.deepEqual([all, failed, sent, waiting], [1, 1, 0, 0]);
    assert.match(String(lastReason), /ECONNREFUSED/);
  });
}

for (const [status, attempts] of [[503, 3], [400, 1]]) {
  test(`a backend that answers ${status} is asked ${attempts} times for each batch`, async () => {
    let asked = 0;
    server.fault = () => {
      asked++;
      return status;
    };
    await start({ retry: FAST });
    traced("call", () => 1)();
    const { failed, lastReason } = await flush();
    assert.deepEqual([asked, failed], [attempts, 1]);
    assert.match(String(lastReason), new RegExp(String(status)));
  });
}

test("a backend that comes back gets everything", async () => {
  let left = 2;
  server.fault = () => (left-- > 0 ? 503 : undefined);
  await start({ retry: FAST });
  traced("call", () => 1)();
  assert.equal((await recorded()).length, 1);
});

test("of a batch that the backend refuses in part the rest counts as sent", async () => {
  await start();
  const call = traced("call", (/** @type {{ id: string }} */ { id }) => id);
  server.fault = async () => (++posts === 1 || posts === 3 ? 500 : undefined);
  let posts = 0;
  // The whole batch fails, then the first half passes and the second one does not.
  call({ id: "good" });
  call({ id: "bad" });
  const { sent, failed } = await flush();
  assert.deepEqual([sent, failed, server.entries().length], [1, 1, 1]);
});

test("flush waits no longer than it is told to", async () => {
  let release = () => {};
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  server.fault = () => /** @type {Promise<void>} */ (held);
  await start();
  traced("call", () => 1)();
  assert.equal((await flush({ timeoutMillis: 30 })).waiting, 1);
  release();
  assert.equal((await flush()).sent, 1);
});

test("after shutdown nothing is taken in, not even what was under way", async () => {
  await start();
  let settle = () => {};
  const call = traced("call", () => new Promise((resolve) => (settle = () => resolve(1))));
  const running = call();
  await shutdown();
  await start();
  settle();
  assert.equal(await running, 1);
  assert.equal((await flush()).recorded, 0);
});

test("after shutdown nothing more is sent, and whoever waits is let go", async () => {
  let requests = 0;
  let release = () => {};
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  server.fault = () => {
    requests++;
    return /** @type {Promise<void>} */ (held);
  };
  await start();
  const call = traced("call", () => 1);
  for (let i = 0; i < 250; i++) call();
  const flushed = flush();
  while (requests === 0) await sleep(5);
  const { waiting, sent } = await shutdown({ timeoutMillis: 20 });
  assert.deepEqual([waiting, sent], [250, 0]);
  release();
  await flushed;
  await sleep(50);
  assert.equal(requests, 1);
});

/** What `token2text` can be, and what goes with it. @type {Record<string, () => any>} */
const TOKENIZERS = {
  "a path": () => ({ token2text: tokenizerFile }),
  "bytes": () => ({ token2text: jsonBytes(byteLevel()) }),
  "true and a tokenizer": () => ({ token2text: true, tokenizer: tokenizerFile }),
  "a Tokenizer of this thread": async () => ({ token2text: await Tokenizer.load(tokenizerFile) }),
  "a Tokenizer of the worker": async () => ({ token2text: await WorkerTokenizer.load(tokenizerFile) }),
};

for (const [what, options] of Object.entries(TOKENIZERS)) {
  test(`texts by ${what}; the result has none`, async () => {
    await start(await options());
    const call = traced("call", async (/** @type {any} */ _given) => ({ token_ids: Uint32Array.from(byteIds("wörld")) }));
    const result = await call({ prompt_ids: byteIds("Hello") });
    assert.deepEqual(Object.keys(result), ["token_ids"]);
    const [{ output }] = await recorded();
    assert.deepEqual(output, { prompt_text: "Hello", response_text: "wörld", token_ids: byteIds("wörld") });
  });
}

test("ids that cannot be decoded cost their text, and neither the call nor the record", async () => {
  await start({ token2text: tokenizerFile });
  const call = traced("call", (/** @type {any} */ { ids }) => ({ token_ids: ids }));
  for (const ids of [[-1], [1.5], ["x"], [[1]], [65]]) assert.deepEqual(call({ ids }), { token_ids: ids });
  assert.deepEqual((await recorded()).map(({ output }) => output.response_text), [undefined, undefined, undefined, ["\u0001"], "A"]);
  const { undecoded, lastReason } = stats();
  assert.equal(undecoded, 3);
  assert.match(String(lastReason), /no text: /);
});

test("other layouts give texts that verl does not", async () => {
  await start({ token2text: tokenizerFile, layouts: "auto" });
  const parser = traced("HermesToolParser.extract_tool_calls", (/** @type {any} */ _given) => ["", []]);
  parser({ responses_ids: byteIds("call") });
  assert.match(JSON.stringify(await recorded()), /"call"/);
  await shutdown();
  await assert.rejects(start({ token2text: tokenizerFile, layouts: "no-such" }), failure("invalid_layout", /no-such/));
});

/** Runs a program of its own. @param {string} program @param {Record<string, string>} [env] */
async function run(program, env) {
  const file = join(folder, "program.mjs");
  writeFileSync(file, program.replaceAll("ROLLOUT_TRACE", new URL("../../pkg/rollout-trace.js", import.meta.url).href));
  const began = performance.now();
  const child = spawn(process.execPath, [file], { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  assert.equal(status, 0, errors);
  return { output, millis: performance.now() - began };
}

test("a process is not kept alive by what waits, and by flush until it is sent; the address comes from the environment", async () => {
  const program = (/** @type {string} */ end) => `
    import { flush, init, traced } from "ROLLOUT_TRACE";
    await init({ backend: "trackio", projectName: "p", experimentName: "e", retry: { initialBackoffMillis: 200 } });
    traced("call", () => 1)();
    ${end}`;
  const gone = await run(program("await new Promise((resolve) => setTimeout(resolve, 700));"), { TRACKIO_SERVER_URL: DEAD });
  assert.ok(gone.millis < 15_000, "five attempts would take longer");
  let left = 3;
  server.fault = () => (left-- > 0 ? 503 : undefined);
  const { output } = await run(program("console.log((await flush()).sent);"), { TRACKIO_SERVER_URL: server.url });
  assert.equal(output, "1\n");
  assert.equal(server.entries().length, 1);
});

test("a rejection that nobody handles is unhandled, once, as it would be without tracing", async () => {
  const { output } = await run(`
    import { init, traced } from "ROLLOUT_TRACE";
    const reasons = [];
    process.on("unhandledRejection", ({ message }) => reasons.push(message));
    await init({ backend: "trackio", projectName: "p", experimentName: "e", server: { url: "${server.url}" } });
    const fail = traced("fail", async (message) => { throw new Error(message); });
    void fail("lost");
    await fail("caught").catch(() => {});
    setTimeout(() => console.log(reasons.join()), 20);`);
  assert.equal(output, "lost\n");
});
