/** Rollouts traced in Node, in real backends: what their own clients read is what verl's Python writes for the same calls. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { init, shutdown, traced, withAttributes } from "../../pkg/rollout-trace.js";
import { EXPERIMENT, makeCalls } from "../js/support/trace-calls.js";
import { assertSame, mlflowTraces, trackioEntry, verls } from "../js/support/trace-shapes.js";
import { tokenizerFolder } from "./support/fixtures.js";
import { PythonClient, mlflowServer } from "./support/mlflow.js";
import { Trackio } from "./support/trackio.js";

const mlflow = mlflowServer();
const trackio = new Trackio();
/** @type {PythonClient} */
let mlflowClient;
before(async () => {
  await Promise.all([mlflow, trackio].map((server) => server.start()));
  mlflowClient = new PythonClient(mlflow.url);
});
after(async () => {
  mlflowClient?.close();
  await Promise.all([mlflow, trackio].map((server) => server.dispose()));
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
  const traces = await mlflowClient.ask("traces", "calls-text");
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
