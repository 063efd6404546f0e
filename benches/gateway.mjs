/**
 * Beyond one collector: two behind nginx, and a queue with one and two workers, beside one collector alone and nginx alone.
 *
 *   make bench-collector
 *   node benches/gateway.mjs [--quick]
 *
 * Client, sink, and everything between them are processes of their own on the same cores, and bodies are encoded beforehand. Each collector
 * decodes in one thread. Layouts take turns, and the tables have medians. Throughput counts until the sink has every span; the times
 * are those of requests, which a queue answers before.
 *
 * What two cores can show: what each part costs a request (CPU), what nginx and the queue add to a request that does not wait, and that
 * the parts do work together under load. What they cannot: how much more two collectors or workers do than one, since client, sink, nginx
 * and nats-server want the same two cores.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { answerOf, collector, cpuSeconds, freePort, serving, start } from "./collector-processes.mjs";
import { median, row } from "./lib.mjs";

/** A program that answers at an address. @typedef {{ url: string, child: import("node:child_process").ChildProcess }} Served */
/** What stands between client and sink: where the client sends, and the processes by what they are. @typedef {{ url: string, parts: Record<string, Served[]> }} Layout */

const ROUNDS = process.argv.includes("--quick") ? 3 : 7;
const CONNECTIONS = 16;
/** Requests of a round. @type {Record<string, number>} */
const BODIES = { "64 KiB of short spans, ids": 300, "1 short span, ids": 2000 };
const PARTS = ["nginx", "collectors", "receiver", "nats-server", "workers"];

const folder = mkdtempSync(join(tmpdir(), "token2text-gateway-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const sink = start("./collector-sink.mjs");
const { port } = await answerOf(sink);
const sinkUrl = `http://127.0.0.1:${port}`;
const load = start("./collector-load.mjs");
await answerOf(load);

/** @type {Record<string, () => Promise<Layout>>} */
const LAYOUTS = {
  "nginx alone": async () => ofNginx([sinkUrl], {}),
  "one collector": async () => {
    const [one] = await collectors(1);
    return { url: one.url, parts: { collectors: [one] } };
  },
  "nginx, two collectors": async () => {
    const both = await collectors(2);
    return ofNginx(both.map(({ url }) => url), { collectors: both });
  },
  "queue, one worker": () => ofQueue(1),
  "queue, two workers": () => ofQueue(2),
};

console.log(`Node ${process.versions.node}, ${cpus()[0]?.model.trim()}, ${availableParallelism()} cores; ${ROUNDS} rounds, ${CONNECTIONS} connections\n`);
for (const [name, requests] of Object.entries(BODIES)) {
  load.send({ sizes: name });
  /** @type {{ bytes: number[], spans: number[] }} */
  const { bytes, spans } = await answerOf(load);
  console.log(row([`${name}, ${Math.round(median(bytes) / 1024)} KiB`, "requests a second", "p50 ms", "p99 ms", "answered a second", ...PARTS.map((part) => `CPU ms a request: ${part}`), "sink", "client's CPU"]));
  console.log(row(Array(7 + PARTS.length).fill("---")));
  /** @type {Record<string, Awaited<ReturnType<typeof measured>>[]>} */
  const rounds = Object.fromEntries(Object.keys(LAYOUTS).map((layout) => [layout, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [layout, make] of Object.entries(LAYOUTS)) {
      const made = await make();
      // What is compiled at the first bodies is no part of it.
      await measured(made, { name, requests: requests / 4, spans });
      const result = await measured(made, { name, requests, spans });
      if (round >= 0) rounds[layout].push(result);
      for (const { child } of Object.values(made.parts).flat()) child.kill("SIGKILL");
    }
  }
  for (const [layout, results] of Object.entries(rounds)) {
    const of = (/** @type {(result: typeof results[0]) => number | undefined} */ value) => {
      const values = results.map(value).filter((one) => one !== undefined);
      return values.length === 0 ? undefined : median(values);
    };
    const shown = (/** @type {number | undefined} */ value, digits = 2) => (value === undefined ? "" : value.toFixed(digits));
    const cpu = [...PARTS.map((part) => of(({ cpu }) => cpu[part])), of(({ cpu }) => cpu.sink)].map((millis) => shown(millis));
    const cells = [of(({ rate }) => rate), of(({ p50 }) => p50), of(({ p99 }) => p99), of(({ answered }) => answered)];
    console.log(row([layout, shown(cells[0], 0), shown(cells[1], 1), shown(cells[2], 1), shown(cells[3], 0), ...cpu, `${shown(of(({ client }) => client * 100), 0)} %`]));
  }
  console.log();
}
process.exit();

/**
 * Sends requests, and waits until the sink has all of their spans.
 *
 * @param {Layout} layout
 * @param {{ name: string, requests: number, spans: number[] }} job
 * @returns {Promise<{ rate: number, answered: number, p50: number, p99: number, cpu: Record<string, number | undefined>, client: number }>}
 *   Requests a second until the sink had them and until the client had its answers; of the parts, milliseconds of CPU for each request; of
 *   one core, what the client took.
 */
async function measured({ url, parts }, { name, requests, spans }) {
  const all = { ...parts, sink: [{ url: sinkUrl, child: sink }] };
  const used = () => Object.entries(all).map(([part, served]) => /** @type {const} */ ([part, served.reduce((sum, { child }) => sum + cpuSeconds(child), 0)]));
  const before = Object.fromEntries(used());
  sink.send(Array.from({ length: requests }, (_, i) => spans[i % spans.length]).reduce((sum, number) => sum + number, 0));
  const from = performance.now();
  load.send({ url, path: "/v1/traces", name, requests, connections: CONNECTIONS, areDistinct: true });
  /** @type {[{ millis: number[], seconds: number, cpuSeconds: number }, unknown]} */
  const [{ millis, seconds, cpuSeconds: client }] = await Promise.all([answerOf(load), answerOf(sink)]);
  const took = (performance.now() - from) / 1000;
  const sorted = millis.sort((a, b) => a - b);
  const cpu = Object.fromEntries(used().map(([part, seconds]) => [part, ((seconds - before[part]) * 1000) / requests]));
  return { rate: requests / took, answered: requests / seconds, p50: median(sorted), p99: sorted[Math.floor(sorted.length * 0.99)], cpu, client: client / seconds };
}

/** @param {number} count */
function collectors(count) {
  return Promise.all(Array.from({ length: count }, () => collector(["--workers", "1", "--receive", "PORT", "--export", `otlp=${sinkUrl}`])));
}

/** As docs/gateway.md has it, in one process. @param {string[]} urls @param {Layout["parts"]} parts @returns {Promise<Layout>} */
async function ofNginx(urls, parts) {
  const own = await freePort();
  const conf = join(folder, `nginx-${own}.conf`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name}; `).join("");
  writeFileSync(conf, `events {}
http {
  access_log off; ${temporary}
  upstream backends { ${urls.map((url) => `server ${new URL(url).host}; `).join("")} keepalive 16; }
  server {
    listen 127.0.0.1:${own};
    client_max_body_size 64m;
    client_body_buffer_size 1m;
    location / {
      proxy_pass http://backends;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host localhost;
    }
  }
}`);
  const nginx = await serving(own, "nginx", ["-e", "stderr", "-p", folder, "-c", conf, "-g", `daemon off; master_process off; pid ${conf}.pid;`]);
  return { url: nginx.url, parts: { nginx: [nginx], ...parts } };
}

/** @param {number} workers @returns {Promise<Layout>} */
async function ofQueue(workers) {
  const [own, monitor] = [await freePort(), await freePort()];
  // It is ready when the page that watches it is there.
  const nats = await serving(monitor, "nats-server", ["-a", "127.0.0.1", "-p", String(own), "-m", String(monitor), "-js", "-sd", join(folder, `nats-${own}`), "-l", "/dev/null"]);
  const queue = ["--queue", `nats://127.0.0.1:${own}`];
  const receiver = await collector([...queue, "--workers", "1", "--receive", "PORT"]);
  const work = [...queue, "--workers", "1", "--export", `otlp=${sinkUrl}`, "--admin", "PORT"];
  const all = await Promise.all(Array.from({ length: workers }, () => collector(work)));
  return { url: receiver.url, parts: { receiver: [receiver], "nats-server": [nats], workers: all } };
}
