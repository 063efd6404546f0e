/** Two collectors behind nginx, configured as docs/gateway.md prints it, with rotel in the place of OpenTelemetry's collector. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { freshId, request } from "../integration/support/fixtures.js";
import { otlpClient, rotelServer } from "../integration/support/rotel.js";
import { Server, freePort } from "../integration/support/servers.js";
import { readSections } from "../packaging/support/readme.js";
import { tokenizerFile } from "./support/collector.js";
import { Sink } from "./support/sink.js";

const COMMAND = fileURLToPath(new URL("../../collector/bin/token2text-collector.js", import.meta.url));
const OUTPUTS = '{"token_ids":[52491,83592,52549]}';
const printed = readSections(readFileSync(new URL("../../collector/docs/gateway.md", import.meta.url), "utf8")).flatMap(({ blocks }) => blocks);

const sink = await new Sink().start();
const python = otlpClient();
const collectors = ["one", "other"].map((name) => new Server({ name: `collector-${name}`, command: commandOf }));
/** @type {Server} */
const nginx = new Server({ name: "nginx", command: () => ["nginx", "-e", "stderr", "-p", nginx.folder, "-c", "nginx.conf", "-g", "daemon off; pid nginx.pid;"] });
/** @type {Server} */
let agent;

/** The printed command, for that port. @param {number} port */
function commandOf(port) {
  const command = printed.find(({ language }) => language === "sh")?.text.split("\n", 1)[0] ?? "";
  const words = command.replace(/--tokenizer \S+/, `--tokenizer ${tokenizerFile}`).replace(/--receive \d+/, `--receive ${port}`).replace(/otlp=\S+/, `otlp=${sink.url}`);
  return [process.execPath, COMMAND, ...words.split(" ").slice(1)];
}

/** Its files go to the folder of the server, for it runs as whoever runs the tests. */
async function startNginx() {
  nginx.port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`).join(" ");
  const conf = printed
    .find(({ language }) => language === "nginx")
    ?.text.replace("http {", `http { access_log off; ${temporary}`)
    .replace("127.0.0.1:4318", `127.0.0.1:${nginx.port}`)
    .replace("127.0.0.1:4319", `127.0.0.1:${collectors[0].port}`)
    .replace("127.0.0.1:4320", `127.0.0.1:${collectors[1].port}`);
  writeFileSync(join(nginx.folder, "nginx.conf"), conf ?? "");
  await nginx.start();
}

before(async () => {
  await Promise.all(collectors.map((collector) => collector.start()));
  await startNginx();
  agent = rotelServer(["--exporter", "otlp", "--otlp-exporter-endpoint", nginx.url, "--otlp-exporter-protocol", "http", "--otlp-exporter-compression", "gzip", "--batch-timeout", "100ms"]);
  await agent.start();
});
after(async () => {
  sink.close();
  python.close();
  await Promise.all([...collectors, nginx, agent].map((server) => server?.dispose()));
});

/** Sends a span of its own. @param {string} to @returns {Promise<{ id: string, status: number }>} */
async function send(to) {
  const id = freshId(8);
  const body = request({ span: id, attributes: { "mlflow.spanOutputs": OUTPUTS } });
  const { status } = await fetch(`${to}/v1/traces`, { method: "POST", headers: { "content-type": "application/x-protobuf" }, body });
  return { id, status };
}

/** The spans that have come through, with how often. */
async function arrived() {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { body } of sink.seen) {
    const { resourceSpans } = await python.ask("read", "Request", "application/x-protobuf", body.toString("base64"));
    for (const span of resourceSpans.flatMap((/** @type {any} */ { scopeSpans }) => scopeSpans.flatMap((/** @type {any} */ { spans }) => spans))) {
      const outputs = span.attributes.find((/** @type {any} */ { key }) => key === "mlflow.spanOutputs");
      assert.match(outputs.value.stringValue, /response_text/);
      const id = Buffer.from(span.spanId, "base64").toString("hex");
      found.set(id, (found.get(id) ?? 0) + 1);
    }
  }
  return found;
}

test("each request is done once", async () => {
  const sent = await Promise.all(Array.from({ length: 20 }, () => send(nginx.url)));
  assert.ok(sent.every(({ status }) => status === 200));
  const found = await arrived();
  assert.deepEqual(sent.map(({ id }) => found.get(id)), sent.map(() => 1));
});

test("an agent sends its batches through", async () => {
  sink.seen = [];
  const sent = await Promise.all(Array.from({ length: 20 }, () => send(agent.url)));
  let found = await arrived();
  for (const deadline = Date.now() + 10_000; found.size < sent.length; found = await arrived()) {
    assert.ok(Date.now() < deadline, `${found.size} of ${sent.length}\n${agent.log()}\n${nginx.log()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(sent.every(({ id }) => found.get(id) === 1));
});

test("a collector that is killed in the middle of a request: the other one does it", async () => {
  sink.seen = [];
  let release = () => {};
  sink.answer = { status: 200, waitFor: new Promise((resolve) => (release = () => resolve(undefined))) };
  // Each collector has two under way; what else it has been sent waits there.
  const arrivals = new Promise((resolve) => (sink.onRequest = () => void (sink.seen.length === 4 && resolve(undefined))));
  const sending = Promise.all(Array.from({ length: 8 }, () => send(nginx.url)));
  await arrivals;
  await collectors[0].stop("SIGKILL");
  release();
  sink.answer = { status: 200 };
  const sent = await sending;
  assert.ok(sent.every(({ status }) => status === 200));
  const found = await arrived();
  assert.ok(sent.every(({ id }) => (found.get(id) ?? 0) >= 1));
  // What the killed one had sent on has been sent twice, with the same ids.
  assert.equal([...found.values()].filter((times) => times === 2).length, 2);
  for (let i = 0; i < 4; i++) assert.equal((await send(nginx.url)).status, 200);
});
