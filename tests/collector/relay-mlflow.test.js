/** Relays in front of a real server of MLflow; what is stored is told by MLflow's own client, without a relay. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { recorded } from "../integration/support/fixtures.js";
import { PythonClient } from "../integration/support/mlflow.js";
import { Enricher } from "../../pkg/node.js";
import { DECODED, IDS, fresh, onlyAdded, python, server, tokenizer, value } from "../integration/support/mlflow-tests.js";
import { relayContext, relayTo } from "./support/relay.js";

const WIRE = fileURLToPath(new URL("../fixtures/wire/mlflow/", import.meta.url));
/** @type {Awaited<ReturnType<typeof relayContext>>[]} */
const contexts = [];
/** @type {Awaited<ReturnType<typeof relayTo>>} */
let relay;
/** @type {Awaited<ReturnType<typeof relayTo>>} */
let reading;
before(async () => {
  contexts.push(await relayContext(), await relayContext({ enrichReads: true }));
  // The server starts at the same time; a relay needs its address only.
  while (server.port === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  relay = await relayTo(contexts[0], "mlflow", server.url);
  reading = await relayTo(contexts[1], "mlflow", server.url);
});
after(async () => {
  await Promise.all([relay?.close(), reading?.close()]);
  await Promise.all(contexts.map((context) => context.close()));
});

/** @param {string} url @param {string} id Of an experiment. @param {Uint8Array<ArrayBuffer>} body */
async function sendSpans(url, id, body) {
  const headers = { "content-type": "application/x-protobuf", "x-mlflow-experiment-id": id };
  const response = await fetch(`${url}/v1/traces`, { method: "POST", headers, body });
  assert.equal(response.status, 200, await response.text());
}

const text = async (/** @type {Response} */ response) => `${response.status} ${await response.text()}`;
/** @param {string} url @param {string} path @param {object} body */
const post = (url, path, body) => fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

test("spans that verl has sent: the texts are added, and nothing else changes", async () => {
  const name = fresh();
  const id = await python.ask("create_experiment", name);
  const bodies = recorded("verl-edge-qwen3-ids").slice(0, 3);
  for (const body of bodies) await sendSpans(server.url, id, new Uint8Array(body));
  const plain = await python.ask("traces", name);
  assert.ok(plain.length > 5);
  for (const body of bodies) await sendSpans(relay.url, id, new Uint8Array(body));
  let texts = 0;
  for (const trace of plain) {
    const now = await python.ask("trace", trace.id);
    for (const [span, given] of Object.entries(trace.spans)) texts += onlyAdded(given, now.spans[span]);
  }
  assert.ok(texts > 5);
});

test("MLflow's client sends through the relay: texts in the spans and in what the list of traces shows", async () => {
  const client = new PythonClient(relay.url);
  const name = fresh();
  const inputs = { prompt_ids: IDS };
  const id = await client.ask("log_trace", name, "root", JSON.stringify(inputs), JSON.stringify({ token_ids: IDS }), { step: 1 });
  const stored = await python.ask("trace", id);
  const child = /** @type {any[]} */ (Object.values(stored.spans)).find(({ name }) => name === "child");
  const output = value(child, "mlflow.spanOutputs");
  assert.deepEqual([output.response_text, output.token_ids, value(child, "step")], [DECODED, IDS, 1]);
  // What it reads through the relay is what is stored.
  assert.deepEqual(await client.ask("trace", id), stored);
  client.close();
});

test("what a trace says of itself", async () => {
  const experiment = await python.ask("create_experiment", fresh());
  const info = JSON.parse(readFileSync(`${WIRE}verl-qwen3-ids/01-trace-info.json`, "utf8"));
  const { trace_info: own } = info.trace;
  own.trace_location.mlflow_experiment.experiment_id = experiment;
  own.response_preview = JSON.stringify({ token_ids: IDS });
  assert.equal((await post(relay.url, "/api/3.0/mlflow/traces", info)).status, 200);
  const stored = await (await fetch(`${server.url}/api/3.0/mlflow/traces/${own.trace_id}`)).json();
  assert.equal(JSON.parse(stored.trace.trace_info.response_preview).response_text, DECODED);
});

test("spans in a file, as older clients store them", async () => {
  const body = readFileSync(`${WIRE}verl-edge-qwen3-ids/17-get-trace-artifact.json`);
  const path = "/api/2.0/mlflow-artifacts/artifacts/1/traces/tr-0123/artifacts/traces.json";
  assert.equal((await fetch(relay.url + path, { method: "PUT", body })).status, 200);
  const stored = Buffer.from(await (await fetch(server.url + path)).arrayBuffer());
  const { body: expected, report } = new Enricher(tokenizer, { messages: true }).enrichBody(body, { url: path });
  assert.ok(report.totals.decoded > 0);
  assert.ok(stored.equals(expected));
  // Stored as they are, they are read with their texts.
  assert.equal((await fetch(server.url + path, { method: "PUT", body })).status, 200);
  assert.ok(Buffer.from(await (await fetch(reading.url + path)).arrayBuffer()).equals(expected));
  assert.ok(Buffer.from(await (await fetch(server.url + path)).arrayBuffer()).equals(body));
});

test("reads through a relay that enriches them show texts; what is stored stays", async () => {
  const name = fresh();
  const experiment = await python.ask("create_experiment", name);
  for (const body of recorded("verl-qwen3-ids")) await sendSpans(server.url, experiment, new Uint8Array(body));
  const [{ id }] = await python.ask("traces", name);
  const info = await (await fetch(`${server.url}/api/3.0/mlflow/traces/${id}`)).json();
  info.trace.trace_info.response_preview = JSON.stringify({ token_ids: IDS });
  await post(server.url, "/api/3.0/mlflow/traces", info);
  const stored = await python.ask("trace", id);

  const paths = ["/ajax-api/3.0/mlflow/get-trace-artifact?request_id=ID", "/api/3.0/mlflow/traces/get?trace_id=ID", "/ajax-api/3.0/mlflow/traces/get?trace_id=ID&allow_partial=true", "/ajax-api/3.0/mlflow/traces/batchGet?trace_ids=ID", "/api/3.0/mlflow/traces/ID"];
  const locations = [{ type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id: experiment } }];
  /** @type {((url: string) => Promise<Response>)[]} */
  const reads = [
    ...paths.map((path) => (/** @type {string} */ url) => fetch(url + path.replace("ID", id))),
    (url) => post(url, "/ajax-api/3.0/mlflow/traces/search", { locations }),
    (url) => post(url, "/ajax-api/3.0/mlflow/traces/batchGetInfos", { trace_ids: [id] }),
  ];
  for (const read of reads) {
    const [direct, passed, enriched] = [await text(await read(server.url)), await text(await read(relay.url)), await text(await read(reading.url))];
    assert.equal(passed, direct);
    assert.doesNotMatch(direct, /_text/);
    assert.match(enriched, /response_text/, direct);
    assert.equal(await text(await read(server.url)), direct);
  }
  const client = new PythonClient(reading.url);
  const shown = await client.ask("trace", id);
  let texts = 0;
  for (const [span, given] of Object.entries(stored.spans)) texts += onlyAdded(given, shown.spans[span]);
  assert.ok(texts > 0);
  assert.deepEqual(await python.ask("trace", id), stored);
  client.close();
});

test("the page works through the relay, and other pages are refused as ever", async () => {
  const [page, same] = [await fetch(server.url), await fetch(relay.url)];
  assert.equal(await text(same), await text(page));
  const body = { locations: [], max_results: 1 };
  const ask = (/** @type {string} */ url, /** @type {string} */ origin) => fetch(`${url}/ajax-api/3.0/mlflow/traces/search`, { method: "POST", headers: { "content-type": "application/json", origin }, body: JSON.stringify(body) });
  assert.equal((await ask(relay.url, relay.url)).status, 200);
  for (const origin of ["http://elsewhere.example", "null"]) assert.deepEqual([(await ask(server.url, origin)).status, (await ask(relay.url, origin)).status], [403, 403]);
});

test("what MLflow refuses is refused in its words", async () => {
  /** @type {[string, RequestInit][]} */
  const wrong = [
    ["/v1/traces", { method: "POST", headers: { "content-type": "application/x-protobuf" }, body: "x" }],
    ["/v1/traces", { method: "POST", headers: { "content-type": "application/json", "x-mlflow-experiment-id": "0" }, body: "{" }],
    ["/v1/traces", { method: "POST", headers: { "content-type": "application/json", "content-encoding": "gzip", "x-mlflow-experiment-id": "0" }, body: "no gzip" }],
    ["/api/3.0/mlflow/traces", { method: "POST", headers: { "content-type": "application/json" }, body: '{"trace":{}}' }],
    ["/api/3.0/mlflow/traces/get?trace_id=none", {}],
    ["/api/2.0/mlflow/none", { method: "DELETE", headers: { "content-type": "application/json" }, body: '{"key":"k"}' }],
  ];
  for (const [path, init] of wrong) {
    const direct = await fetch(server.url + path, init);
    const words = await direct.text();
    for (const { url } of [relay, reading]) {
      const throughRelay = await fetch(url + path, init);
      assert.ok(direct.status >= 400);
      assert.equal(throughRelay.headers.get("content-type"), direct.headers.get("content-type"));
      assert.deepEqual([throughRelay.status, throughRelay.statusText], [direct.status, direct.statusText]);
      assert.equal(await throughRelay.text(), words);
    }
  }
});
