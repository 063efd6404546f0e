/** WebAssembly memory never shrinks, so what is freed must be used again. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { MessageChannel, Worker } from "node:worker_threads";
import { general, load, slim } from "../../pkg/engines.js";
import * as main from "../../pkg/node.js";
import * as worker from "../../pkg/worker-node.js";
import { byteLevel, jsonBytes } from "./support/tokenizers.js";

const CYCLES = 1000;
const plain = jsonBytes(byteLevel());
const record = { output: { response_ids: Array.from({ length: 200 }, (_, i) => i) } };
after(() => worker.terminate());

/** @param {any} t2t @param {"auto" | "general"} engine */
async function cycle(t2t, engine) {
  const tokenizer = await t2t.Tokenizer.load(plain, { engine });
  const enricher = await t2t.Enricher.create({ "*": tokenizer });
  await tokenizer.decode(record.output.response_ids);
  await enricher.enrich(record);
  await enricher.enrichBody(jsonBytes(record));
  await tokenizer.free();
  await enricher.free();
}

/** @param {() => Promise<void>} run @param {number} times @param {() => number | Promise<number>} size */
async function growth(run, times, size) {
  for (let i = 0; i < times / 10; i++) await run();
  const before = await size();
  for (let i = 0; i < times; i++) await run();
  return (await size()) - before;
}

for (const [engine, instance] of /** @type {const} */ ([["auto", slim], ["general", general]])) {
  test(`${CYCLES} cycles on the main thread, ${engine}`, async () => {
    assert.equal(await growth(() => cycle(main, engine), CYCLES, () => instance().memory.buffer.byteLength), 0);
  });
}

test(`${CYCLES} cycles in a worker`, async () => {
  // The usual script, and a second port that tells the memory.
  const script = `import { slim } from ${JSON.stringify(new URL("../../pkg/engines.js", import.meta.url).href)};
    import { workerData } from "node:worker_threads";
    import ${JSON.stringify(new URL("../../pkg/worker-host-node.js", import.meta.url).href)};
    workerData.on("message", () => workerData.postMessage(slim().memory.buffer.byteLength)).unref();`;
  const { port1, port2 } = new MessageChannel();
  const start = () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), { workerData: port2, transferList: [port2] });
  worker.terminate();
  await worker.init(undefined, { worker: start });
  const size = () => {
    port1.postMessage("");
    return /** @type {Promise<number>} */ (new Promise((resolve) => port1.once("message", resolve)));
  };
  assert.ok((await size()) > 0);
  assert.equal(await growth(() => cycle(worker, "auto"), CYCLES, size), 0);
  port1.close();
});

test("a large tokenizer takes the place of the one before", async () => {
  const file = readFileSync(new URL("../../.cache/tokenizers/qwen3/tokenizer.json", import.meta.url));
  const load = async () => (await main.Tokenizer.load(file)).free();
  assert.equal(await growth(load, 30, () => slim().memory.buffer.byteLength), 0);
});

test("memoryBytes tells the memory of all modules, and when it grows", async () => {
  const { memoryBytes, read } = main;
  await read(jsonBytes(record));
  const sizes = [slim(), general(), await load("reader", "this test"), await load("spans", "this test")].map(({ memory }) => memory.buffer.byteLength);
  const before = memoryBytes();
  assert.equal(before, sizes.reduce((sum, size) => sum + size));
  const enricher = new main.Enricher(main.Tokenizer.fromBytes(plain));
  enricher.enrichBody(new Uint8Array(64 << 20).fill(32));
  assert.ok(memoryBytes() >= before + (60 << 20), `${before} ${memoryBytes()}`);
});
