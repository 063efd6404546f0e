/**
 * What the collector's pool of workers costs beside enriching in the same thread, in one run, on recorded bodies.
 *
 *   node benches/pool.mjs [--quick]
 *
 * "p50" is one body at a time: the pool's time is that of the enricher and the way to the thread and back. "Throughput" is
 * many bodies at once. A busy machine slows all; ratios are to be read.
 */
import { DEFAULTS } from "../collector/src/configuration/defaults.js";
import { createLog } from "../collector/src/operations/log.js";
import { createEnrichments } from "../collector/src/enrichment/pool.js";
import { enricherOf, recorded } from "../tests/collector/support/bodies.js";
import { fetchTokenizer } from "../scripts/fetch-tokenizer.js";
import { median, row } from "./lib.mjs";

const ROUNDS = process.argv.includes("--quick") ? 5 : 21;
const BATCH = 64;
const NAMES = [
  "verl-qwen3-ids/01-trace-info.json",
  "verl-qwen3-ids/02-v1-traces.pb",
  "verl-calls-qwen3/calls.jsonl",
  "js-json-llama2/02-v1-traces.json",
  "edge-huge-qwen3/calls.jsonl",
];

const direct = enricherOf("qwen3");
const pool = (/** @type {number} */ workers) =>
  createEnrichments({ ...DEFAULTS, tokenizers: [{ pattern: "*", file: fetchTokenizer("qwen3") }], workers }, createLog("silent"));
const [one, two] = [await pool(1), await pool(2)];

console.log(row(["body", "bytes", "direct ms", "p50 through the pool / direct", "added ms", "throughput of 1 worker / direct", "of 2"]));
console.log(row(Array(7).fill("---")));
for (const name of NAMES) {
  const request = recorded(name);
  const { body, contentType, url } = request;
  const alone = () => direct.enrichBody(body, { contentType, url });
  /** @type {Record<string, number[]>} */
  const times = { direct: [], pool: [], batch: [], one: [], two: [] };
  for (let round = -3; round < ROUNDS; round++) {
    const into = (/** @type {string} */ task, /** @type {number} */ start) => round >= 0 && times[task].push(performance.now() - start);
    for (let i = 0; i < BATCH; i++) {
      let start = performance.now();
      alone();
      into("direct", start);
      start = performance.now();
      await one.enrich(request);
      into("pool", start);
    }
    let start = performance.now();
    for (let i = 0; i < BATCH; i++) alone();
    into("batch", start);
    for (const [task, enrichments] of /** @type {const} */ ([["one", one], ["two", two]])) {
      start = performance.now();
      await Promise.all(Array.from({ length: BATCH }, () => enrichments.enrich(request)));
      into(task, start);
    }
  }
  const ms = Object.fromEntries(Object.entries(times).map(([task, found]) => [task, median(found)]));
  const through = [(ms.pool / ms.direct).toFixed(2), (ms.pool - ms.direct).toFixed(3)];
  console.log(row([name, body.length, ms.direct.toFixed(3), ...through, (ms.batch / ms.one).toFixed(2), (ms.batch / ms.two).toFixed(2)]));
}
await Promise.all([one.close(), two.close()]);
