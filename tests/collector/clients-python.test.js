/** The backends' own Python clients, and OpenTelemetry's, through the relay: what they store gets texts, and nothing else changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mlflowServer } from "../integration/support/mlflow.js";
import { rotelServer } from "../integration/support/rotel.js";
import { Trackio } from "../integration/support/trackio.js";
import { SETTINGS, client } from "./support/clients.js";
import { ANSWER, PROMPT } from "./support/decoded.js";
import { comparable, noTexts, textsIn } from "./support/records.js";
import { startRecorder } from "./support/recorder.js";
import { startRelayed } from "./support/relayed.js";
import { withServers } from "./support/servers.js";
import { weaveServer } from "../integration/support/weave.js";

const IDS = [PROMPT.ids, ANSWER.ids];

const { mlflow, trackio, weave, rotel } = withServers({ mlflow: mlflowServer(), trackio: new Trackio(), weave: weaveServer(), rotel: rotelServer() });

/** @param {any} stored */
const texts = (stored) => textsIn(stored).flatMap((found) => found.texts).sort();
/** @param {number} times */
const both = (times) => Array(times).fill([ANSWER.text, PROMPT.text]).flat().sort();

const IS_TRACE = {
  mlflow: (/** @type {string} */ path) => path === "/v1/traces" || path === "/api/3.0/mlflow/traces" || path.endsWith("/traces.json"),
  trackio: (/** @type {string} */ path) => path === "/api/bulk_log",
  weave: (/** @type {string} */ path) => path.endsWith("/calls/complete"),
  otlp: (/** @type {string} */ path) => path === "/v1/traces",
};

/**
 * Does the same through the relay and without it.
 *
 * @param {keyof typeof IS_TRACE} backend
 * @param {string} upstream
 * @param {(url: string, project: "through" | "direct") => Promise<unknown>} log
 * @param {import("./support/recorder.js").Fault} [answers] What the server answers otherwise.
 */
async function throughAndDirect(backend, upstream, log, answers) {
  const relayed = await startRelayed(backend, upstream, { fault: answers });
  const direct = await startRecorder(upstream, answers);
  try {
    await Promise.all([log(relayed.url, "through"), log(direct.url, "direct")]);
    assert.ok(relayed.changed(({ path }) => IS_TRACE[backend](path)).length > 0);
  } finally {
    await relayed.close();
    await direct.close();
  }
}

/** @param {any} through @param {any} direct @param {string[]} expected */
function onlyTextsAdded(through, direct, expected) {
  assert.deepEqual(texts(through), expected);
  assert.deepEqual(texts(direct), []);
  assert.deepEqual(comparable(through, noTexts), comparable(direct, noTexts));
}

test("MLflow's client: spans of its own", async () => {
  await throughAndDirect("mlflow", mlflow.url, (url, project) => client(SETTINGS.mlflow(url), "log_mlflow", `spans-${project}`, ...IDS));
  const [through, direct] = await client(SETTINGS.mlflow(mlflow.url), "read_mlflow", "spans-through", "spans-direct");
  assert.equal(through.length, 1);
  onlyTextsAdded(through[0].spans, direct[0].spans, both(2));
  assert.match(through[0].info.previews[1], /^{"response_text": "Grüße aus Kyōto/, "what the page lists");
});

test("MLflow's client with a server from before OTLP: spans in an artifact", async () => {
  const old = (/** @type {{ path: string }} */ { path }) => (path === "/version" ? { status: 200, body: "3.3.2" } : undefined);
  await throughAndDirect("mlflow", mlflow.url, (url, project) => client(SETTINGS.mlflow(url), "log_mlflow", `artifact-${project}`, ...IDS), old);
  const [through, direct] = await client(SETTINGS.mlflow(mlflow.url), "read_mlflow", "artifact-through", "artifact-direct");
  assert.equal(through[0].info.tags["mlflow.trace.spansLocation"], undefined, "the spans are in a file");
  onlyTextsAdded(through[0].spans, direct[0].spans, both(2));
});

test("Trackio's client: a trace beside metrics", async () => {
  await throughAndDirect("trackio", trackio.url, (url, project) => client(SETTINGS.trackio(url), "log_trackio", project, ...IDS));
  const { through, direct } = await trackio.ask("stored");
  assert.equal(through.runs[0].logs.length, 2);
  onlyTextsAdded(through.runs, direct.runs, both(1));
});

test("Weave's client: ops", async () => {
  await throughAndDirect("weave", weave.url, (url, project) => client(SETTINGS.weave(url), "log_weave", `team/${project}`, ...IDS));
  const [through, direct] = await client(SETTINGS.weave(weave.url), "read_weave", "team/through", "team/direct");
  assert.equal(through.length, 2);
  onlyTextsAdded(through, direct, both(2));
});

test("OpenTelemetry's SDK, into MLflow's ingestion", async () => {

  const ids = { through: "", direct: "" };
  [ids.through, ids.direct] = await client(SETTINGS.mlflow(mlflow.url), "create_mlflow", "otlp-through", "otlp-direct");
  await throughAndDirect("otlp", mlflow.url, async (url, project) => {
    const { flushed } = await client(SETTINGS.otlp(url), "log_otlp", ...IDS, { "x-mlflow-experiment-id": ids[project] });
    assert.equal(flushed, true);
  });
  const [through, direct] = await client(SETTINGS.mlflow(mlflow.url), "read_mlflow", "otlp-through", "otlp-direct");
  const added = { "token2text.prompt_text": PROMPT.text, "token2text.response_text": ANSWER.text };
  const attributes = through[0].spans.map((/** @type {any} */ span) => span.attributes);
  const decoded = attributes.find((/** @type {any} */ { prompt_ids }) => prompt_ids !== undefined);
  for (const [key, text] of Object.entries(added)) assert.equal(JSON.parse(decoded[key]), text);
  const isAdded = (/** @type {string} */ key) => key in added;
  assert.deepEqual(comparable(through, isAdded), comparable(direct, isAdded));
});

test("OpenTelemetry's SDK, into rotel", async () => {
  const relayed = await startRelayed("otlp", rotel.url);
  try {
    const { flushed } = await client(SETTINGS.otlp(relayed.url), "log_otlp", ...IDS, {});
    assert.equal(flushed, true);
    assert.equal(relayed.changed(({ path }) => IS_TRACE.otlp(path)).length, 1);
  } finally {
    await relayed.close();
  }
  // It prints them as they are.
  assert.ok(rotel.log().includes(`-> token2text.prompt_text: Str(${PROMPT.text})`), rotel.log());
  assert.ok(rotel.log().includes(`-> token2text.response_text: Str(${ANSWER.text})`), rotel.log());
});
