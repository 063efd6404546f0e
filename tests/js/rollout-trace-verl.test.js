/** What reaches the backends, beside what verl's own Python sends there for the same calls (tests/fixtures/rollout-trace). */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { read } from "../../pkg/node.js";
import { init, shutdown, traced, withAttributes } from "../../pkg/rollout-trace.js";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { EXPERIMENT, fixture, makeCalls } from "./support/trace-calls.js";
import { TraceServer } from "./support/trace-server.js";

const server = new TraceServer();
const tokenizer = join(fetchTokenizer("qwen3"), "tokenizer.json");

/** @typedef {{ path: string, json?: any, base64?: string }} Recorded */
/**
 * What is compared, of what Node sent and of what verl sent: all but ids and times.
 *
 * @typedef {{ project: string, ours: () => Promise<any[]> | any[], verls: (recorded: Recorded[]) => Promise<any[]> | any[] }} Backend
 */
/** @type {Record<"mlflow" | "trackio" | "weave", Backend>} */
const BACKENDS = {
  mlflow: {
    project: "calls",
    ours: async () => mlflowTraces(await spansIn(server.bodies("/v1/traces"))),
    async verls(recorded) {
      const infos = recorded.filter(({ json }) => json).map(({ json }) => json.trace.trace_info);
      const spans = await spansIn(recorded.filter(({ base64 }) => base64).map(({ base64 }) => Buffer.from(String(base64), "base64")));
      return mlflowTraces(spans, new Map(infos.map(({ trace_id: id, tags }) => [id.slice("tr-".length), tags])));
    },
  },
  trackio: {
    project: "calls",
    ours: () => server.entries().map(trackioEntry),
    verls: (recorded) => recorded.flatMap(({ json }) => json.kwargs.logs).map(trackioEntry),
  },
  weave: {
    project: "team/calls",
    ours: () => weaveTraces(server.bodies("/calls/complete").flatMap((body) => JSON.parse(body.toString()).batch)),
    verls: (recorded) => weaveTraces(recorded.flatMap(({ json }) => json.batch)),
  },
};

for (const name of /** @type {(keyof typeof BACKENDS)[]} */ (Object.keys(BACKENDS))) {
  const { project, ours, verls } = BACKENDS[name];
  for (const kind of ["ids", "text"]) {
    test(`records for ${name} are verl's, with ${kind}`, async () => {
      server.reset();
      const token2text = kind === "text" && tokenizer;
      await init({ backend: name, projectName: `${project}-${kind}`, experimentName: EXPERIMENT, token2text, server: { url: server.url } });
      await makeCalls({ traced, withAttributes });
      const { recorded, sent, lastReason } = await shutdown();
      assert.equal(sent, recorded, lastReason);
      const { requests, versions } = fixture(`${name}-${kind}.json`);
      assert.equal(versions.verl, "0.9.1");
      const [found, wanted] = [await ours(), await verls(requests)].map(sorted);
      assert.ok(found.length > 5);
      assert.equal(found.length, wanted.length);
      for (const [i, record] of found.entries()) assert.deepEqual(record, wanted[i]);
    });
  }
}

/** @param {any[]} records */
function sorted(records) {
  return records.map((record) => /** @type {const} */ ([JSON.stringify(record, byKey), record])).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
}

/** Members in one order, without texts, which stand elsewhere among them. @param {string} _key @param {any} value */
function byKey(_key, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** JSON in a message as a value: Python spells some numbers in other ways. @param {any} entry */
function trackioEntry({ project, run, step, config, metrics }) {
  const [[key, { messages, metadata, ...trace }]] = Object.entries(metrics);
  const opened = messages.map((/** @type {any} */ message) => (/^[{[]/.test(message.content) ? { ...message, content: JSON.parse(message.content) } : message));
  // Trackio counts on where none is given: its client does, or its server.
  const own = metadata.step === undefined ? {} : { step };
  return { project, run, ...own, framework: config?.framework ?? "verl", key, messages: opened, metadata, ...trace };
}

/** @param {Buffer[]} bodies */
async function spansIn(bodies) {
  return (await Promise.all(bodies.map((body) => read(body, { format: "otlp-proto" })))).flat();
}

/**
 * Each trace as a tree of its calls, with its tags.
 *
 * @param {any[]} spans
 * @param {Map<string, Record<string, string>>} [tags] By trace, where they are not in the root.
 */
function mlflowTraces(spans, tags) {
  return spans.filter(({ parentId }) => !parentId).map((root) => {
    const own = tags?.get(root.traceId) ?? tagsIn(JSON.parse(root.attributes));
    return { tags: own, root: tree(root, spans.filter(({ traceId }) => traceId === root.traceId)) };
  });
}

const TAG = "mlflow.traceTag.";

/** @param {Record<string, any>} attributes */
function tagsIn(attributes) {
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => key.startsWith(TAG)).map(([key, value]) => [key.slice(TAG.length), value]));
}

/** @param {any} span @param {any[]} spans @returns {any} */
function tree({ spanId, name, status, error, inputs, output, attributes, events }, spans) {
  const kept = Object.entries(JSON.parse(attributes)).filter(([key]) => !key.startsWith(TAG) && key !== "mlflow.traceRequestId" && key !== "mlflow.chat.messages");
  const inner = sorted(spans.filter(({ parentId }) => parentId === spanId).map((span) => tree(span, spans)));
  return {
    ...{ name, status, error, attributes: Object.fromEntries(kept), inner },
    ...{ inputs: inputs && JSON.parse(inputs), output: output && JSON.parse(output) },
    events: JSON.parse(events ?? "[]").map(exception),
  };
}

/** Each trace as a tree of its calls. @param {any[]} calls */
function weaveTraces(calls) {
  return calls.filter(({ parent_id: parent }) => !parent).map((root) => weaveTree(root, calls.filter(({ trace_id: id }) => id === root.trace_id)));
}

/** @param {any} call @param {any[]} calls @returns {any} */
function weaveTree({ id, project_id, op_name, inputs, output = null, attributes, exception }, calls) {
  const { weave, ...own } = attributes;
  // W&B's client stores the source of a function and names it by the place; of its name it keeps some letters.
  const op = op_name.replace(/^weave:.*\/op\/(.*):.*$/, "$1").replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/-$/, "");
  const { type, message, traceback } = JSON.parse(exception ?? "{}");
  assert.ok(exception === null || traceback.length > 0);
  const inner = sorted(calls.filter(({ parent_id: parent }) => parent === id).map((inside) => weaveTree(inside, calls)));
  return { project_id, op, inputs, output, attributes: own, thrown: [type, message], inner };
}

/** @param {any} event */
function exception({ name, attributes }) {
  const { "exception.stacktrace": stack, ...rest } = attributes;
  assert.match(stack, /Error: /);
  return { name, ...rest };
}
