/**
 * Real clients, the real command and real backends: killed again and again, the collector loses nothing that it has acknowledged, and backends
 * have nothing twice.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Tokenizer } from "../../pkg/node.js";
import { freshId, request } from "../integration/support/fixtures.js";
import { PythonClient, mlflowServer } from "../integration/support/mlflow.js";
import { otelPython } from "../integration/support/rotel.js";
import { freePort } from "../integration/support/servers.js";
import { Trackio } from "../integration/support/trackio.js";
import { tokenizerFile } from "./support/collector.js";
import { Command } from "./support/command.js";
import { freshFolder } from "./support/folders.js";
import { send, startForwarder, until } from "./support/forwarding.js";
import { Gate } from "./support/gate.js";
import { startPool } from "./support/pool.js";
import { withServers } from "./support/servers.js";
import { PROTOBUF, traceOf } from "./support/spans.js";

/** @typedef {{ trace: string, span: string, name: string, attributes: Record<string, any> }} Acknowledged */

const KILLS = Number(process.env.FORWARDING_KILLS ?? 10);
/** Some for each life of the collector. */
const TRACES = 6 * KILLS;
const LOAD = fileURLToPath(new URL("./support/otel_load.py", import.meta.url));
const EXPERIMENT = "killed";
const PROJECT = "killed";
const folder = freshFolder();
const { mlflow, trackio } = withServers({ mlflow: mlflowServer(), trackio: new Trackio() });
const gate = new Gate(() => mlflow.url);
/** @type {PythonClient | undefined} */
let client;
after(async () => {
  client?.close();
  await gate.shut();
});
const python = () => (client ??= new PythonClient(mlflow.url));
/** What MLflow has of an experiment; nothing, before there is one. @param {string} experiment @returns {Promise<any[]>} */
const tracesOf = (experiment) => python().ask("traces", experiment).catch(() => []);

test(`killed ${KILLS} times, with MLflow away for a while: MLflow and Trackio have every span once, as it was sent`, async () => {
  await gate.open();
  const [port, seconds] = [await freePort(), KILLS * 0.8];
  const exports = [`mlflow=${gate.url},experiment=${EXPERIMENT}`, `trackio=${trackio.url},project=${PROJECT},token=${trackio.writeToken}`];
  const args = ["-t", tokenizerFile, "--cache", join(folder, "cache"), "--receive", String(port), "--store", join(folder, "killed.db"), ...exports.flatMap((to) => ["--export", to])];
  const starting = async () => {
    const command = new Command(args);
    // If this test fails, too.
    after(() => command.signal("SIGKILL"));
    await command.url("receive");
    return command;
  };
  let collector = await starting();
  const loading = promisify(execFile)(otelPython(), [LOAD, `http://127.0.0.1:${port}`, String(TRACES), String(seconds)], { maxBuffer: 1 << 26 });
  for (let kill = 1; kill <= KILLS; kill++) {
    await sleep(50 + Math.random() * 500);
    if (kill === Math.ceil(KILLS / 3)) await gate.shut();
    if (kill === Math.ceil((2 * KILLS) / 3)) await gate.open();
    collector.signal("SIGKILL");
    await collector.ended;
    collector = await starting();
  }
  /** @type {Acknowledged[]} */
  const acknowledged = JSON.parse((await loading).stdout);
  const traceIds = new Set(acknowledged.map(({ trace }) => trace));
  assert.equal(traceIds.size, TRACES);
  /** @param {any[]} traces */
  const spansOf = (traces) => traces.flatMap(({ id, spans }) => Object.entries(spans).map(([span, stored]) => ({ id, span, stored })));
  await until(async () => spansOf(await tracesOf(EXPERIMENT)).length >= acknowledged.length, () => collector.stderr, 500);
  const stored = spansOf(await tracesOf(EXPERIMENT));
  assert.equal(stored.length, acknowledged.length);

  const tokenizer = await Tokenizer.load(tokenizerFile);
  for (const { trace, span, name, attributes } of acknowledged) {
    const [found, ...others] = stored.filter((one) => one.span === span);
    assert.ok(found && others.length === 0, span);
    assert.deepEqual([found.id, found.stored.name], [`tr-${trace}`, name]);
    for (const [key, value] of Object.entries(attributes)) {
      // As JSON, whatever they are.
      const kept = JSON.parse(found.stored.attributes[key]);
      if (key !== "mlflow.spanOutputs") assert.deepEqual(kept, value, key);
      else assert.deepEqual(kept, { response_text: tokenizer.decode(JSON.parse(value).token_ids), ...JSON.parse(value) });
    }
  }

  const roots = async () => (await trackio.ask("stored"))[PROJECT]?.runs[0]?.traces ?? [];
  await until(async () => (await roots()).length >= TRACES, () => collector.stderr, 500);
  const kept = await roots();
  assert.equal(kept.length, TRACES);
  const text = JSON.stringify(kept);
  for (const { span } of acknowledged) assert.ok(text.includes(span), `Trackio has no ${span}`);
  collector.signal("SIGTERM");
  assert.equal(await collector.ended, 0);
  assert.equal(await deadLettersOf(join(folder, "killed.db")), "[]\n");
});

/** @param {string} file */
async function deadLettersOf(file) {
  const command = new Command(["dead-letters", file, "--json"]);
  assert.equal(await command.ended, 0);
  return command.stdout;
}

test("Trackio with a wrong token, then with the right one: nothing is given up, everything is stored", async () => {
  const pool = await startPool();
  const file = join(folder, "token.db");
  const to = (/** @type {string} */ token) => [{ backend: /** @type {const} */ ("trackio"), url: trackio.url, options: { project: "tokens", token } }];
  const wrong = await startForwarder(pool, file, to("wrong"));
  for (let i = 0; i < 5; i++) await send(wrong.url, traceOf());
  await until(() => wrong.forwarding.health()[0].failingSince);
  assert.match(wrong.forwarding.health()[0].reason ?? "", /write_token/);
  await wrong.close();
  const right = await startForwarder(pool, file, to(trackio.writeToken));
  await until(async () => (await trackio.ask("stored")).tokens?.runs[0]?.traces.length === 5, () => right.lines.join(""));
  assert.deepEqual((await right.store.facts()).dead, {});
  await right.close();
  await pool.close();
});

test("what MLflow refuses of a request is a dead letter with its reason; the rest is stored", async () => {
  const pool = await startPool();
  const file = join(folder, "partial.db");
  const collector = await startForwarder(pool, file, [{ backend: "mlflow", url: mlflow.url, options: { experiment: "partial" } }]);
  const good = traceOf(3);
  await send(collector.url, good);
  await send(collector.url, { body: request({ trace: freshId(16), span: freshId(8) }, { trace: freshId(16), span: "" }), contentType: PROTOBUF });
  await send(collector.url, traceOf(2));
  await until(async () => (await tracesOf("partial")).length === 3, () => collector.lines.join(""), 200);
  await collector.close();
  await pool.close();
  const [{ reason, status, spans }, ...others] = JSON.parse(await deadLettersOf(file));
  assert.deepEqual([status, spans, others], [400, 2, []]);
  assert.match(reason, /MLflow refused 1 of 2 spans/);
});
