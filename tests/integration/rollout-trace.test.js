/** Rollouts traced in Node, in real backends: what their own clients read is what verl's Python writes for the same calls. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { init, shutdown, traced, withAttributes } from "../../pkg/rollout-trace.js";
import { EXPERIMENT, makeCalls } from "../js/support/trace-calls.js";
import { assertSame, mlflowTraces, trackioEntry, verls, weaveTraces } from "../js/support/trace-shapes.js";
import { tokenizerFolder } from "./support/fixtures.js";
import { PythonClient, mlflowServer } from "./support/mlflow.js";
import { runRecipe } from "./support/recipe.js";
import { Trackio } from "./support/trackio.js";
import { WEAVE_KEY, weaveClient, weaveServer } from "./support/weave.js";

const mlflow = mlflowServer();
const trackio = new Trackio();
const weave = weaveServer();
/** What looks into them. @type {{ close: () => void, ask: (question: string, ...args: unknown[]) => Promise<any> }[]} */
let clients = [];
before(async () => {
  await Promise.all([mlflow, trackio, weave].map((server) => server.start()));
  clients = [new PythonClient(mlflow.url), weaveClient(weave.url)];
});
after(async () => {
  for (const client of clients) client.close();
  await Promise.all([mlflow, trackio, weave].map((server) => server.dispose()));
});

/** Makes all calls, with texts. @param {import("../../pkg/rollout-trace.js").TraceOptions} options */
async function trace(options) {
  await init({ experimentName: EXPERIMENT, token2text: `${tokenizerFolder}/tokenizer.json`, ...options });
  await makeCalls({ traced, withAttributes });
  const { recorded, sent, lastReason } = await shutdown();
  assert.equal(sent, recorded, lastReason);
}

test("MLflow's client reads the traces, the tree, the tags and the texts of verl", async () => {
  await trace({ backend: "mlflow", projectName: "calls-text", server: { url: mlflow.url } });
  const traces = await clients[0].ask("traces", "calls-text");
  const found = traces.flatMap((/** @type {any} */ { spans: stored, tags }) => {
    const spans = Object.values(stored).map(asRead);
    return mlflowTraces(spans, new Map([[spans[0].traceId, verlsTags(tags)]]));
  });
  assertSame(found, await verls("mlflow", "text"));
});

test("Trackio stores the traces of verl, under its run", async () => {
  await trace({ backend: "trackio", projectName: "calls-text", server: { url: trackio.url, writeToken: trackio.writeToken } });
  const { runs, configs } = (await trackio.ask("stored"))["calls-text"];
  assert.deepEqual(runs.map((/** @type {any} */ { name }) => name), [EXPERIMENT]);
  assert.equal(/** @type {any} */ (Object.values(configs)[0]).framework, "verl");
  const found = runs[0].traces.map((/** @type {any} */ { key, step, messages, metadata, spans }) => {
    return trackioEntry({ project: "calls-text", run: EXPERIMENT, step, metrics: { [key]: { _type: "trackio.trace", messages, metadata, spans } } });
  });
  assertSame(found, await verls("trackio", "text"));
});

test("W&B's client reads the calls of verl", async () => {
  await trace({ backend: "weave", projectName: "team/calls-text", server: { url: weave.url, apiKey: WEAVE_KEY } });
  const calls = await clients[1].ask("calls", "team/calls-text");
  const found = weaveTraces(calls.map((/** @type {any} */ { op, ...call }) => ({ ...call, project_id: "team/calls-text", op_name: op })));
  assertSame(found, await verls("weave", "text"));
});

test("the recipe does what it says", async () => {
  const commands = await runRecipe("Rollout traces", { printed: { "http://127.0.0.1:5000": mlflow.url }, files: { "tokenizer.json": readFileSync(`${tokenizerFolder}/tokenizer.json`) } });
  assert.equal(commands, 1);
  const [{ tags, spans }] = await clients[0].ask("traces", "agents");
  assert.deepEqual([tags.step, tags.sample_index, tags["mlflow.traceName"]], ["3", "17", "agent_loop"]);
  const texts = Object.values(spans).map((/** @type {any} */ { attributes }) => JSON.parse(attributes["mlflow.spanOutputs"] ?? "{}").response_text);
  assert.deepEqual(texts.sort(), ["Hello, world!", "Hello, world!", undefined]);
});

/** Without what MLflow's server adds. @param {Record<string, string>} tags */
function verlsTags(tags) {
  const { "mlflow.artifactLocation": _location, "mlflow.trace.spansLocation": _spans, ...rest } = tags;
  return rest;
}

/** A span of MLflow's client as `read` gives one of OTLP, which has no text for an output that is null. @param {any} span */
function asRead({ trace_id: traceId, span_id: spanId, parent_span_id: parentId, name, status, attributes, events }) {
  const { "mlflow.spanInputs": inputs, "mlflow.spanOutputs": output, ...rest } = attributes;
  const code = status.code === "STATUS_CODE_OK" ? "ok" : "error";
  const opened = Object.fromEntries(Object.entries(rest).map(([key, json]) => [key, JSON.parse(String(json))]));
  const nothing = output === "null" ? { "mlflow.spanOutputs": null } : {};
  const values = { inputs, output: output === "null" ? undefined : output, attributes: JSON.stringify({ ...opened, ...nothing }) };
  return { traceId, spanId, parentId, name, status: code, error: status.message || undefined, events: JSON.stringify(events), ...values };
}
