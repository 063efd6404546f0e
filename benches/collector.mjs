/**
 * The collector beside what it stands in for: a relay beside no relay, the receiver beside rotel, a collector in Rust that decodes no ids,
 * both forwarding to the same sink in the same run; and with a store beside SQLite alone.
 *
 *   make bench-collector
 *   node benches/collector.mjs [relay | receive | store] [--quick]
 *
 * Client, sink and what is measured are processes of their own, on the same cores. Bodies are encoded beforehand. Rotel answers
 * before it forwards, the receiver after the sink has answered: so throughput counts until the sink has every span. What is measured
 * takes turns, and the tables have medians. A busy machine slows all; ratios are to be read.
 */
import { spawnSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { ROOT, answerOf, collector, cpuSeconds, freePort, serving, start } from "./collector-processes.mjs";
import { compareStore } from "./collector-store.mjs";
import { median, row } from "./lib.mjs";

/** @typedef {import("node:child_process").ChildProcess} Child */

const isQuick = process.argv.includes("--quick");
const only = process.argv.slice(2).find((word) => !word.startsWith("--"));
const ROUNDS = isQuick ? 3 : 7;
const CONNECTIONS = 16;

/** Throughput: requests of a round. @type {Record<string, number>} */
const FORWARDED = {
  "1 span of 145 KiB, ids": 300,
  "64 KiB of short spans, ids": 300,
  "64 KiB of short spans, no ids": 300,
  "1 short span, ids": 2000,
};
const RELAYED = "1 short span, ids";
const LEAST = 0.25;
const MOST_ADDED_MILLIS = 1;

const sink = start("./collector-sink.mjs");
const { port } = await answerOf(sink);
const sinkUrl = `http://127.0.0.1:${port}`;
const load = start("./collector-load.mjs");
await answerOf(load);
console.log(`Node ${process.versions.node}, ${cpus()[0]?.model.trim()}, ${availableParallelism()} cores; ${ROUNDS} rounds\n`);
if (!only || only === "relay") await relay();
if (!only || only === "receive") await receive();
if (!only || only === "store") await compareStore({ load, loaded, names: Object.keys(FORWARDED), rounds: ROUNDS, isQuick });
process.exit();

/** What a small request costs when it goes through a relay: traces, which are decoded, and what is only passed on. */
async function relay() {
  const { url } = await collector(["--relay", `otlp=PORT,${sinkUrl}`]);
  console.log(row(["a small request through a relay", "direct, p50 ms", "through, p50 ms", "added", "must be", "is"]));
  console.log(row(Array(6).fill("---")));
  for (const [name, path] of Object.entries({ "traces, decoded": "/v1/traces", "anything else": "/v1/other" })) {
    /** @type {{ direct: number[], through: number[] }} */
    const p50 = { direct: [], through: [] };
    for (let round = -2; round < ROUNDS; round++) {
      for (const [way, to] of /** @type {["direct" | "through", string][]} */ ([["direct", sinkUrl], ["through", url]])) {
        const { millis } = await loaded({ url: to, path, name: RELAYED, requests: 400, connections: 1 });
        if (round >= 0) p50[way].push(median(millis));
      }
    }
    const [direct, through] = [median(p50.direct), median(p50.through)];
    const added = through - direct;
    console.log(row([name, direct.toFixed(2), through.toFixed(2), added.toFixed(2), `below ${MOST_ADDED_MILLIS} ms`, added < MOST_ADDED_MILLIS ? "ok" : "missed"]));
  }
  console.log();
}

/** How much the receiver forwards, beside rotel. */
async function receive() {
  const urls = {
    rotel: await rotel(),
    gzip: await collector(["--receive", "PORT", "--export", `otlp=${sinkUrl},gzip=true`]),
    plain: await collector(["--receive", "PORT", "--export", `otlp=${sinkUrl}`]),
  };
  const peers = /** @type {(keyof typeof urls)[]} */ (Object.keys(urls));
  console.log(row(["requests a second, forwarded", "KiB", "rotel", "receiver, gzip too", "ratio", "receiver, no gzip", "ratio", "must be", "is", "CPU ms a request: rotel", "gzip", "no gzip", "client's CPU"]));
  console.log(row(Array(13).fill("---")));
  for (const [name, requests] of Object.entries(FORWARDED)) {
    load.send({ sizes: name });
    const { bytes, spans } = await answerOf(load);
    /** @type {Record<string, { rate: number, own: number, client: number }[]>} */
    const rounds = Object.fromEntries(peers.map((peer) => [peer, []]));
    for (let round = -1; round < ROUNDS; round++) {
      for (const peer of peers) {
        const measured = await forwarded(urls[peer], { name, requests, spans });
        if (round >= 0) rounds[peer].push(measured);
      }
    }
    const of = (/** @type {"rate" | "own" | "client"} */ what) => peers.map((peer) => median(rounds[peer].map((round) => round[what])));
    const [beside, ...ours] = of("rate");
    const rates = ours.flatMap((rate) => [Math.round(rate), `${(rate / beside).toFixed(2)}x`]);
    const isEnough = ours.every((rate) => rate >= LEAST * beside);
    const cells = [name, Math.round(median(bytes) / 1024), Math.round(beside), ...rates, `${LEAST}x`, isEnough ? "ok" : "missed"];
    console.log(row([...cells, ...of("own").map((millis) => millis.toFixed(2)), of("client").map((share) => `${Math.round(share * 100)} %`).join(", ")]));
  }
}

/**
 * Sends requests, and waits until the sink has all of their spans.
 *
 * @param {{ url: string, child: Child }} peer
 * @param {{ name: string, requests: number, spans: number[] }} job
 * @returns {Promise<{ rate: number, own: number, client: number }>} Requests a second; milliseconds of CPU for each; of one core, what the
 *   client took.
 */
async function forwarded({ url, child }, { name, requests, spans }) {
  const before = cpuSeconds(child);
  sink.send(total(spans, requests));
  const start = performance.now();
  const [{ cpuSeconds: used, seconds }] = await Promise.all([loaded({ url, path: "/v1/traces", name, requests, connections: CONNECTIONS }), answerOf(sink)]);
  const took = (performance.now() - start) / 1000;
  return { rate: requests / took, own: ((cpuSeconds(child) - before) * 1000) / requests, client: used / seconds };
}

/** What the bodies have together, which are sent in turn. @param {number[]} each @param {number} requests */
function total(each, requests) {
  return Array.from({ length: requests }, (_, i) => each[i % each.length]).reduce((sum, number) => sum + number, 0);
}

/** @param {import("./collector-load.mjs").Job} job @returns {Promise<{ millis: number[], seconds: number, cpuSeconds: number }>} */
function loaded(job) {
  load.send(job);
  return answerOf(load);
}

/** With its own way to batch, and without compression, as the receiver. */
async function rotel() {
  const python = spawnSync(`${ROOT}scripts/venv.sh`, ["otel"], { encoding: "utf8" }).stdout.trim();
  const program = spawnSync(`${ROOT}${python}`, ["-c", "from rotel.agent import agent; print(agent.agent_path)"], { encoding: "utf8" }).stdout.trim();
  const own = await freePort();
  const exporter = ["--exporter", "otlp", "--otlp-exporter-endpoint", sinkUrl, "--otlp-exporter-protocol", "http", "--otlp-exporter-compression", "none"];
  return serving(own, program, ["start", "--otlp-http-endpoint", `127.0.0.1:${own}`, "--otlp-grpc-endpoint", "127.0.0.1:0", ...exporter]);
}
