/** What only the worker client does: threads that end, buffers that move. The behaviours it shares are in behaviour.test.js. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { Enricher, Tokenizer, Token2TextError, init, strip, terminate, transfer } from "../../pkg/worker-node.js";
import { byteLevel, jsonBytes, needsGeneral } from "./support/tokenizers.js";
import { withTrap } from "./support/trap.js";

const PKG = fileURLToPath(new URL("../../pkg", import.meta.url));
const HOST = pathToFileURL(join(PKG, "worker-host-node.js"));
const plain = jsonBytes(byteLevel());
const folder = mkdtempSync(join(tmpdir(), "token2text-"));
after(() => rmSync(folder, { recursive: true }));
afterEach(() => terminate());

/** @param {string} code @param {RegExp} words */
const failure = (code, words) => (/** @type {unknown} */ error) => {
  assert.ok(error instanceof Token2TextError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, words);
  return true;
};

/** Starts the next worker with this script, or by this function. @param {URL | string | (() => unknown)} worker */
function useWorker(worker) {
  terminate();
  return init(undefined, { worker });
}

/** @param {Enricher} enricher */
async function responseText(enricher) {
  const { span } = await enricher.enrich({ output: { response_text: null, response_ids: [72] } });
  return span.output.response_text;
}

/** Starts the next worker so that what is sent to it can be seen, in short: `decode@1`. @returns {Promise<string[]>} */
async function watchWorker() {
  /** @type {string[]} */
  const sent = [];
  await useWorker(() => {
    const thread = new Worker(HOST);
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (message, transfer) => {
      const { method, target, makes, free } = message;
      sent.push(free === undefined ? `${method}${target ?? makes ? `@${target ?? makes}` : ""}` : `free@${free}`);
      post(message, transfer);
    };
    return thread;
  });
  return sent;
}

/** A copy of the package whose `strip` runs into a trap. */
function packageThatTraps() {
  const copy = join(folder, "pkg");
  cpSync(PKG, copy, { recursive: true });
  const file = join(copy, "slim_bg.wasm");
  writeFileSync(file, withTrap(readFileSync(file)));
  return pathToFileURL(join(copy, "worker-host-node.js"));
}

test("after a trap the waiting calls are rejected, and everything works again in another worker", async () => {
  await useWorker(packageThatTraps());
  const tokenizer = await Tokenizer.load(plain);
  const enricher = await Enricher.create({ a: tokenizer, "*": await Tokenizer.load(new Response(plain)) });
  const calls = await Promise.allSettled([strip(jsonBytes({})), tokenizer.decode([72]), responseText(enricher)]);
  for (const call of calls) {
    assert.equal(call.status, "rejected");
    failure("instance_lost", /the worker ended before this call was done \(.*unreachable/)(call.reason);
  }
  assert.equal(await tokenizer.decode([72, 105]), "Hi");
  assert.equal(await responseText(enricher), "H");
});

test("a thread that is ended from outside is replaced", async () => {
  /** @type {Worker[]} */
  const threads = [];
  await useWorker(() => {
    threads.push(new Worker(HOST));
    return threads.at(-1);
  });
  const tokenizer = await Tokenizer.load(plain);
  const waiting = tokenizer.decode(new Uint32Array(1 << 20).fill(72));
  setImmediate(() => threads[0].terminate());
  await assert.rejects(waiting, failure("instance_lost", /exited with code 1/));
  assert.equal(await tokenizer.decode([72]), "H");
  assert.equal(threads.length, 2);
});

test("terminate rejects what waits and is no end", async () => {
  const tokenizer = await Tokenizer.load(plain);
  const waiting = [tokenizer.decode([72]), tokenizer.info, strip(jsonBytes({}))];
  terminate();
  for (const call of waiting) await assert.rejects(call, failure("instance_lost", /terminated/));
  assert.equal(await tokenizer.decode([72]), "H");
  terminate();
  const starting = strip(jsonBytes({}));
  terminate();
  await assert.rejects(starting, failure("instance_lost", /ended before/));
});

test("a call is sent as it is made, so that it comes before a free and before a change of its arguments", async () => {
  const sent = await watchWorker();
  const tokenizer = await Tokenizer.load(plain);
  const ids = Uint32Array.of(72, 105);
  const text = tokenizer.decode(ids);
  ids.fill(0);
  await tokenizer.free();
  assert.equal(await text, "Hi");
  const [load, decode, free] = sent.slice(1);
  assert.deepEqual([decode, free], [load.replace("load", "decode"), load.replace("load", "free")]);
});

test("what is freed while it is made again is freed in the worker too", async () => {
  const tokenizer = await Tokenizer.load(plain);
  const sent = await watchWorker();
  const text = tokenizer.decode([72]);
  await tokenizer.free();
  assert.equal(await text, "H");
  assert.deepEqual(sent.slice(1).map((call) => call.split("@")[0]), ["load", "decode", "free"]);
});

test("enrichers that share a freed tokenizer come back together", async () => {
  const [shared, other] = [await Tokenizer.load(plain), await Tokenizer.load(readFileSync(new URL("../../.cache/tokenizers/gpt2/tokenizer.json", import.meta.url)))];
  const enrichers = [await Enricher.create(shared), await Enricher.create({ x: other, "*": shared })];
  await shared.free();
  await other.free();
  const sent = await watchWorker();
  assert.deepEqual(await Promise.all(enrichers.map(responseText)), ["H", "H"]);
  const count = (/** @type {string} */ name) => sent.filter((call) => call.startsWith(name)).length;
  assert.deepEqual([count("load"), count("create"), count("free")], [2, 2, 2]);
});

test("a tokenizer that was freed comes back only for its enricher", async () => {
  const tokenizer = await Tokenizer.load(plain);
  const enricher = await Enricher.create(tokenizer);
  await tokenizer.free();
  terminate();
  assert.equal(await responseText(enricher), "H");
  await assert.rejects(tokenizer.decode([72]), failure("freed", /freed/));
});

test("a worker that cannot be started says why, and can be tried again", async () => {
  terminate();
  await assert.rejects(init(undefined, { worker: join(folder, "nothing.js") }), failure("unreadable_source", /the worker cannot be started: .*nothing\.js/));
  await assert.rejects(init(undefined, { worker: () => { throw new Error("mine"); } }), failure("unreadable_source", /mine/));
  await assert.rejects(init(undefined, { worker: async () => {} }), failure("invalid_options", /must give a Worker, not an object of class Promise/));
  await assert.rejects(init(Promise.reject(new Error("no network"))), failure("unreadable_source", /no network/));
  await assert.rejects(init(undefined, /** @type {any} */ ({ workers: HOST })), failure("invalid_options", /no option `workers`/));
  await init(undefined, { worker: HOST.href });
  terminate();
  await init(undefined, { worker: HOST });
  assert.equal(await (await Tokenizer.load(plain)).decode([72]), "H");
});

test("calls at once share one worker and keep their answers apart", async () => {
  let started = 0;
  terminate();
  const worker = () => {
    started++;
    return new Worker(HOST);
  };
  const [, first, second] = await Promise.all([init(undefined, { worker }), init(undefined, { worker }), init(undefined, { worker })]).then(() =>
    Promise.all([init(), Tokenizer.load(plain), Tokenizer.load(jsonBytes(needsGeneral()))]),
  );
  const texts = await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 ? first.decode([i]) : second.decode([0, i % 3, 3]))));
  assert.equal(started, 1);
  assert.equal(texts[65], "A");
  assert.equal(texts[64], "a b");
});

test("results are moved; arguments are copied, or moved on request", async () => {
  const enricher = await Enricher.create(await Tokenizer.load(plain));
  const body = jsonBytes({ output: { response_ids: [72] } });
  const copied = await enricher.enrichBody(body);
  assert.ok(body.length > 0);
  assert.equal(copied.body.byteLength, copied.body.buffer.byteLength, "a buffer of its own");
  const moved = await enricher.enrichBody(transfer(body));
  assert.equal(body.length, 0);
  assert.deepEqual(moved.body, copied.body);
  assert.throws(() => transfer(/** @type {any} */ ("text")), failure("invalid_options", /typed array/));
});

test("of a view into a larger buffer only its own part is sent", async () => {
  /** @type {any[]} */
  const sent = [];
  await useWorker(() => {
    const thread = new Worker(HOST);
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (message, transfer) => (sent.push(message), post(message, transfer));
    return thread;
  });
  const tokenizer = await Tokenizer.load(plain);
  const ids = new Uint32Array(1000).fill(72).subarray(1, 3);
  const body = Buffer.concat([Buffer.alloc(1000), jsonBytes({ output: { response_ids: [72] } })]).subarray(1000);
  const enricher = await Enricher.create(tokenizer);
  assert.equal(await tokenizer.decode(ids), "HH");
  assert.equal(sent.at(-1).args[0].buffer.byteLength, 8);
  assert.deepEqual(await tokenizer.decodeBatch([transfer(ids), [105]]), ["HH", "i"]);
  assert.equal(sent.at(-1).args[0][0].buffer.byteLength, 8);
  const listed = Uint32Array.of(72);
  assert.deepEqual(await tokenizer.decodeBatch([transfer(listed)]), ["H"]);
  assert.equal(listed.length, 0);
  for (const part of [body, new DataView(body.buffer, body.byteOffset, body.length)]) {
    assert.equal((await enricher.enrichBody(/** @type {any} */ (part))).report.totals.decoded, 1);
    assert.equal(sent.at(-1).args[0].buffer.byteLength, body.length);
  }
  assert.equal(ids.length, 2);
});

test("what cannot be sent is told in words", async () => {
  const tokenizer = await Tokenizer.load(plain);
  await assert.rejects(tokenizer.decode(/** @type {any} */ ([() => 1])), failure("invalid_options", /an argument of decode cannot be sent to the worker/));
  assert.equal(await tokenizer.decode([72]), "H");
});

test("an onProgress that throws ends the load", async () => {
  const onProgress = () => {
    throw new Error("mine");
  };
  const sent = await watchWorker();
  for (const source of [plain, new Response(plain)]) {
    await assert.rejects(Tokenizer.load(source, { onProgress }), failure("unreadable_source", /mine/));
  }
  assert.deepEqual(sent.map((call) => call.split("@")[0]), ["init", "load", "undefined", "free"], "the abort has no method");
});

test("a mistake of one caller is nobody else's", async () => {
  const cyclic = { a: {} };
  cyclic.a = cyclic;
  const tokenizer = await Tokenizer.load(plain);
  for (const options of /** @type {any[]} */ ([{ config: cyclic }, { config: { a: 1n } }, { compat: 1n }, { signal: 5 }, { onProgress: 5 }])) {
    const [wrong, right] = await Promise.allSettled([Tokenizer.load(plain, options), tokenizer.decode([72])]);
    assert.equal(wrong.status === "rejected" && wrong.reason.code, "invalid_options");
    assert.equal(right.status === "fulfilled" && right.value, "H");
  }
});

test("fromBytes gets the general engine by itself, and again in another worker", async () => {
  terminate();
  const tokenizer = await Tokenizer.fromBytes(plain, { engine: "general" });
  assert.deepEqual(await tokenizer.encode("Hi"), Uint32Array.of(72, 105));
  terminate();
  assert.deepEqual(await tokenizer.encode("Hi"), Uint32Array.of(72, 105));
  await assert.rejects(Tokenizer.fromBytes(/** @type {any} */ (new Blob([plain]))), failure("invalid_options", /takes bytes, not an object of class Blob/));
});

test("a program that is done ends, though its worker waits", () => {
  const program = `import { Tokenizer } from ${JSON.stringify(pathToFileURL(join(PKG, "worker-node.js")).href)};
    const tokenizer = await Tokenizer.load(process.argv[1]);
    console.log(await tokenizer.decode([72]));`;
  const file = join(folder, "tokenizer.json");
  writeFileSync(file, plain);
  const run = (/** @type {string} */ text) => execFileSync("node", ["--input-type=module", "-e", text, file], { encoding: "utf8", timeout: 20_000 });
  assert.equal(run(program), "H\n");
  // Also where a call has failed on this side.
  assert.equal(run(`${program} await Tokenizer.load(process.argv[1], { onProgress() { throw new Error() } }).catch(() => {});`), "H\n");
});
