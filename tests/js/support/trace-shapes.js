/** What is compared of records, those of Node and those of verl: all but ids and times. */
import assert from "node:assert/strict";
import { read } from "../../../pkg/node.js";
import { fixture } from "./trace-calls.js";

/** @typedef {{ path: string, json?: any, base64?: string }} Recorded */
/** @typedef {"mlflow" | "trackio" | "weave"} Name */

/** Of what verl's clients have sent. @type {Record<Name, (recorded: Recorded[]) => Promise<any[]> | any[]>} */
const SENT = {
  async mlflow(recorded) {
    const infos = recorded.filter(({ json }) => json).map(({ json }) => json.trace.trace_info);
    const spans = await spansIn(recorded.filter(({ base64 }) => base64).map(({ base64 }) => Buffer.from(String(base64), "base64")));
    return mlflowTraces(spans, new Map(infos.map(({ trace_id: id, tags }) => [id.slice("tr-".length), tags])));
  },
  trackio: (recorded) => recorded.flatMap(({ json }) => json.kwargs.logs).map(trackioEntry),
  weave: (recorded) => weaveTraces(recorded.flatMap(({ json }) => json.batch)),
};

/** What verl writes for the calls. @param {Name} name @param {"ids" | "text"} kind */
export async function verls(name, kind) {
  const { requests, versions } = fixture(`${name}-${kind}.json`);
  assert.equal(versions.verl, "0.9.1");
  return SENT[name](requests);
}

/** Compares records, in whatever order they are. @param {any[]} found @param {any[]} wanted */
export function assertSame(found, wanted) {
  assert.ok(found.length > 5);
  assert.equal(found.length, wanted.length);
  const [ours, theirs] = [sorted(found), sorted(wanted)];
  for (const [i, record] of ours.entries()) assert.deepEqual(record, theirs[i]);
}

/** @param {any[]} records */
function sorted(records) {
  const keyed = records.map((record) => /** @type {const} */ ([JSON.stringify(record, byKey), record]));
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
}

/** Members in one order, without texts, which stand elsewhere among them. @param {string} _key @param {any} value */
function byKey(_key, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** JSON in a message as a value: Python spells some numbers in other ways. @param {any} entry */
export function trackioEntry({ project, run, step, config, metrics }) {
  const [[key, { messages, metadata, ...trace }]] = Object.entries(metrics);
  const opened = messages.map((/** @type {any} */ { content, ...rest }) => ({ ...rest, content: /^[{[]/.test(content) ? JSON.parse(content) : content }));
  // Trackio counts on where none is given: its client does, or its server.
  const own = metadata.step === undefined ? {} : { step };
  return { project, run, ...own, framework: config?.framework ?? "verl", key, messages: opened, metadata, ...trace };
}

/** @param {Buffer[]} bodies */
export async function spansIn(bodies) {
  return (await Promise.all(bodies.map((body) => read(body, { format: "otlp-proto" })))).flat();
}

/**
 * Each trace as a tree of its calls, with its tags.
 *
 * @param {any[]} spans
 * @param {Map<string, Record<string, string>>} [tags] By trace, where they are not in the root.
 */
export function mlflowTraces(spans, tags) {
  return spans.filter(({ parentId }) => !parentId).map((root) => {
    const own = tags?.get(root.traceId) ?? tagsIn(JSON.parse(root.attributes));
    return { tags: own, root: tree(root, spans.filter(({ traceId }) => traceId === root.traceId)) };
  });
}

const TAG = "mlflow.traceTag.";
/** By MLflow's client or server, and by our exporter for MLflow's page. */
const ADDED = ["mlflow.traceRequestId", "mlflow.chat.messages"];

/** @param {Record<string, any>} attributes */
function tagsIn(attributes) {
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => key.startsWith(TAG)).map(([key, value]) => [key.slice(TAG.length), value]));
}

/** @param {any} span @param {any[]} spans @returns {any} */
function tree({ spanId, name, status, error, inputs, output, attributes, events }, spans) {
  const kept = Object.entries(JSON.parse(attributes)).filter(([key]) => !key.startsWith(TAG) && !ADDED.includes(key));
  const inner = sorted(spans.filter(({ parentId }) => parentId === spanId).map((span) => tree(span, spans)));
  return {
    ...{ name, status, error, attributes: Object.fromEntries(kept), inner },
    ...{ inputs: inputs && JSON.parse(inputs), output: output && JSON.parse(output) },
    events: JSON.parse(events ?? "[]").map(exception),
  };
}

/** Each trace as a tree of its calls. @param {any[]} calls */
export function weaveTraces(calls) {
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
