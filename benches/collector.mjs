/**
 * The collector beside what it stands in for: a relay beside no relay, the receiver beside rotel, a collector in Rust that decodes no ids,
 * both forwarding to the same sink in the same run.
 *
 *   make bench-collector
 *   node benches/collector.mjs [relay | receive] [--quick]
 *
 * Client, sink and what is measured are processes of their own, on the same cores. Bodies are encoded beforehand. Rotel answers
 * before it forwards, the receiver after the sink has answered: so throughput counts until the sink has every span. What is measured
 * takes turns, and the tables have medians. A busy machine slows all; ratios are to be read.
 */
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { median, row } from "./lib.mjs";

/** @typedef {import("node:child_process").ChildProcess} Child */

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMMAND = `${ROOT}collector/bin/token2text-collector.js`;
const TOKENIZER = `${ROOT}.cache/tokenizers/qwen3/tokenizer.json`;
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

/** @type {Child[]} */
const children = [];
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

const sink = start("./collector-sink.mjs");
const { port } = await answerOf(sink);
const sinkUrl = `http://127.0.0.1:${port}`;
const load = start("./collector-load.mjs");
await answerOf(load);
console.log(`Node ${process.versions.node}, ${cpus()[0]?.model.trim()}, ${availableParallelism()} cores; ${ROUNDS} rounds\n`);
if (!only || only === "relay") await relay();
if (!only || only === "receive") await receive();
process.exit();

/** What a small request costs when it goes through a relay. */
async function relay() {
  const { url } = await collector(["--relay", `otlp=PORT,${sinkUrl}`]);
  const urls = { direct: sinkUrl, "through a relay": url };
  /** @type {Record<string, number[]>} */
  const p50 = {};
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, url] of Object.entries(urls)) {
      const { millis } = await loaded({ url, name: RELAYED, requests: 400, connections: 1 });
      if (round >= 0) (p50[name] ??= []).push(median(millis));
    }
  }
  const [direct, through] = Object.keys(urls).map((name) => median(p50[name]));
  const added = through - direct;
  console.log(row(["one small request after the other, with ids", "p50, ms", "added", "must be", "is"]));
  console.log(row(["---", "---", "---", "---", "---"]));
  console.log(row(["direct to the sink", direct.toFixed(2), "", "", ""]));
  console.log(row(["through a relay, decoded", through.toFixed(2), added.toFixed(2), `below ${MOST_ADDED_MILLIS} ms`, added < MOST_ADDED_MILLIS ? "ok" : "missed"]));
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
  const [{ cpuSeconds: used, seconds }] = await Promise.all([loaded({ url, name, requests, connections: CONNECTIONS }), answerOf(sink)]);
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

/** @param {string} file */
function start(file) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { stdio: "inherit" });
  children.push(child);
  // Or this would wait for its answer.
  child.on("exit", () => process.exit(1));
  return child;
}

/** @param {Child} child @returns {Promise<any>} */
async function answerOf(child) {
  const [answer] = await once(child, "message");
  return answer;
}

/** A collector with that option, on a free port in the place of PORT. @param {string[]} args */
async function collector(args) {
  const own = await freePort();
  const options = args.map((arg) => arg.replace("PORT", String(own)));
  return serving(own, process.execPath, [COMMAND, "--tokenizer", TOKENIZER, "--log-level", "error", ...options]);
}

/** With its own way to batch, and without compression, as the receiver. */
async function rotel() {
  const python = spawnSync(`${ROOT}scripts/venv.sh`, ["otel"], { encoding: "utf8" }).stdout.trim();
  const program = spawnSync(`${ROOT}${python}`, ["-c", "from rotel.agent import agent; print(agent.agent_path)"], { encoding: "utf8" }).stdout.trim();
  const own = await freePort();
  const exporter = ["--exporter", "otlp", "--otlp-exporter-endpoint", sinkUrl, "--otlp-exporter-protocol", "http", "--otlp-exporter-compression", "none"];
  return serving(own, program, ["start", "--otlp-http-endpoint", `127.0.0.1:${own}`, "--otlp-grpc-endpoint", "127.0.0.1:0", ...exporter]);
}

/** Starts a program and waits until it answers. @param {number} port @param {string} program @param {string[]} args */
async function serving(port, program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${program} ended`);
    try {
      await fetch(url);
      return { url, child };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** What a process has used up to now, of all its threads; of Linux. @param {Child} child */
function cpuSeconds({ pid }) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /, "").split(" ").slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
