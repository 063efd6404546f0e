/**
 * Text for traces that are stored already. Trackio keeps the first version of a trace, so an enriched one is written beside it:
 * the same run, step and key, with a `log_id` made of the original's id and, in its metadata, `token2text: { by, revision, source }`.
 * Where Trackio's page would show ids, the texts are its first messages. Doing it again finds the versions that are there.
 */
import { Token2TextError } from "../errors.js";
import { elements, memberText, members, textOf } from "./json-text.js";
import { derivedId, writeBody } from "./trackio-entries.js";

/** @typedef {import("./trackio-reader.js").TrackioReader} TrackioReader */
/** @typedef {import("./trackio-result.js").TrackioResult} TrackioResult */
/** @typedef {import("../report.js").Report} Report */
/**
 * @typedef {object} StoredRun
 * @property {string} project
 * @property {string} runId
 * @property {number} [revision] Another number writes other versions beside those of before, after a mistake in the tokenizer for
 *   example. Default: 1.
 * @property {number} [pageSize] How many traces are read at once. Default: 50.
 */
/** @typedef {{ id: string, report?: Report, error?: Token2TextError }} Looked A trace that was looked into, and what was found. */
/**
 * What became of the traces of a page.
 *
 * @typedef {object} EnrichedPage
 * @property {number} traces All on the page.
 * @property {number} written Versions that are now stored; without an exporter, that would be.
 * @property {number} present Originals whose version was there already.
 * @property {number} versions Versions of before.
 * @property {number} unchanged Originals that gain no text.
 * @property {Looked[]} looked
 * @property {TrackioResult} result
 */
/** Of the package, or of `token2text/worker`. @typedef {{ enrichBody(body: Uint8Array): Enriched | Promise<Enriched> }} BodyEnricher */
/** @typedef {{ body: Uint8Array, report: Report }} Enriched */

const MARK = "token2text";
/** Trackio's search looks into values, not keys. */
const BY = "token2text";
/**
 * Texts as messages, where those of another role are ids. Trackio's list shows the first message of the user in full, and a prompt would
 * fill it; its conversation shows every message.
 */
const MESSAGES = [
  { kind: "prompt", role: "system", of: "user" },
  { kind: "response", role: "assistant", of: "assistant" },
];

/**
 * Reads the traces of a run and writes an enriched version of each that gains text.
 *
 * @param {TrackioReader} reader
 * @param {BodyEnricher} enricher
 * @param {StoredRun} run
 * @param {(body: Uint8Array) => Promise<TrackioResult>} [write] Such as `withRetry((body) => exporter.export(body))`. Without it
 *   nothing is written.
 * @returns {AsyncGenerator<EnrichedPage>} A page at a time. After a result that is not `success` it is up to the caller to go on.
 * @throws {Token2TextError} What the reader throws.
 *
 * @example
 *   for await (const page of enrichStored(reader, enricher, { project, runId }, (body) => exporter.export(body))) {
 *     console.log(`${page.written} written`);
 *   }
 */
export async function* enrichStored(reader, enricher, { project, runId, revision = 1, pageSize = 50 }, write) {
  const ids = new Set(await reader.traceIds({ project, runId }));
  for (let offset = 0; ; offset += pageSize) {
    const text = textOf(await reader.traces({ project, runId, limit: pageSize, offset }));
    const traces = tracesIn(text);
    if (traces.length > 0) yield await enrichPage(traces, { project, revision, ids, enricher, write });
    if (traces.length < pageSize) return;
  }
}

/** @param {string} text The answer of `get_traces`. */
function tracesIn(text) {
  const data = members(text).get("data");
  if (!data) throw new Token2TextError("refused", "get_traces: an answer without `data`");
  return elements(text, data.start).map(({ start, end }) => text.slice(start, end));
}

/**
 * @typedef {object} Job
 * @property {string} project
 * @property {number} revision
 * @property {Set<string>} ids Of all traces of the run.
 * @property {BodyEnricher} enricher
 * @property {(body: Uint8Array) => Promise<TrackioResult>} [write]
 */

/** @param {string[]} traces @param {Job} job @returns {Promise<EnrichedPage>} */
async function enrichPage(traces, { project, revision, ids, enricher, write }) {
  const page = { traces: traces.length, written: 0, present: 0, versions: 0, unchanged: 0 };
  /** @type {Looked[]} */
  const looked = [];
  const entries = [];
  for (const trace of traces) {
    const stored = readTrace(trace);
    const version = versionOf(stored, revision);
    if (stored.isVersion) page.versions++;
    else if (ids.has(version.id)) page.present++;
    else {
      const { text = trace, ...found } = await enriched(trace, enricher);
      looked.push({ id: stored.id, ...found });
      if (text === trace) page.unchanged++;
      else entries.push({ text: entryOf(text, project, version, { by: BY, revision, source: stored.id }, found.report) });
    }
  }
  /** @type {TrackioResult} */
  const result = entries.length > 0 && write ? await write(new TextEncoder().encode(writeBody("null", entries))) : { status: "success" };
  const lost = result.status === "retryable" ? entries.length : (result.rejected?.length ?? 0);
  return { ...page, written: entries.length - lost, looked, result };
}

/** What identifies a stored trace. @param {string} trace */
function readTrace(trace) {
  const parts = members(trace);
  const value = (/** @type {string} */ key) => JSON.parse(memberText(trace, parts, key) ?? "null");
  const metadata = parts.get("metadata");
  const isObject = metadata !== undefined && trace[metadata.start] === "{";
  const mark = isObject ? members(trace, metadata.start).get(MARK) : undefined;
  const isVersion = mark !== undefined && trace[mark.start] === "{" && members(trace, mark.start).has("source");
  return { id: String(value("id")), key: String(value("key")), runId: String(value("run_id")), isVersion };
}

/**
 * The version of a trace: its `log_id`, and the id that Trackio gives it.
 *
 * @param {{ id: string, key: string, runId: string }} trace
 * @param {number} revision
 */
function versionOf({ id, key, runId }, revision) {
  const logId = derivedId(id, String(revision));
  return { logId, key, id: `${runId}:${logId}:${key}:0` };
}

/**
 * @param {string} trace
 * @param {BodyEnricher} enricher
 * @returns {Promise<{ text?: string, report?: Report, error?: Token2TextError }>}
 */
async function enriched(trace, enricher) {
  try {
    const { body, report } = await enricher.enrichBody(new TextEncoder().encode(trace));
    return { text: textOf(body), report };
  } catch (error) {
    if (error instanceof Token2TextError) return { error };
    throw error;
  }
}

/**
 * The entry of `bulk_log` that writes a trace as it was read.
 *
 * @param {string} trace
 * @param {string} project
 * @param {{ logId: string, key: string }} version
 * @param {object} mark
 * @param {Report} [report] What was found in it.
 */
function entryOf(trace, project, { logId, key }, mark, report) {
  const parts = members(trace);
  const text = (/** @type {string} */ name, otherwise = "null") => memberText(trace, parts, name) ?? otherwise;
  const content = `"messages":${withTexts(text("messages", "[]"), trace, report)},"metadata":${marked(text("metadata", "{}"), mark)},"spans":${text("spans", "[]")}`;
  // An array of one: the dashboard then shows the log_id.
  const metrics = `{${JSON.stringify(key)}:[{"_type":"trackio.trace",${content}}]}`;
  const place = `"run":${text("run")},"run_id":${text("run_id")},"step":${text("step")}`;
  return `{"project":${JSON.stringify(project)},${place},"config":null,"log_id":"${logId}","metrics":${metrics}}`;
}

/**
 * The messages of a version: texts come before those in which verl's client has put ids.
 *
 * @param {string} messages
 * @param {string} trace
 * @param {Report} [report]
 */
function withTexts(messages, trace, report) {
  if (messages[0] !== "[") return messages;
  const present = elements(messages).map(({ start, end }) => messages.slice(start, end));
  const added = MESSAGES.flatMap(({ kind, role, of }) => {
    const path = report?.fields.find((field) => field.kind === kind && field.textPath?.startsWith("/metadata/"))?.textPath;
    const text = path === undefined ? undefined : stringAt(trace, path);
    return text === undefined || isReadable(present, of) ? [] : [`{"role":"${role}","content":${text}}`];
  });
  if (added.length === 0) return messages;
  return `[${[...added, ...present].join(",")}]`;
}

/** Whether the first message of a role is a text, and not JSON. @param {string[]} messages @param {string} role */
function isReadable(messages, role) {
  for (const message of messages) {
    if (message[0] !== "{") continue;
    const parts = members(message);
    if (memberText(message, parts, "role") === `"${role}"`) return /^"(?![[{])/.test(memberText(message, parts, "content") ?? "");
  }
  return false;
}

/** The JSON text of the string at an address of a report, if there is one. @param {string} trace @param {string} path */
function stringAt(trace, path) {
  let value = trace;
  for (const step of path.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const part = value[0] === "{" ? members(value).get(key) : value[0] === "[" ? elements(value)[Number(key)] : undefined;
    if (!part) return undefined;
    value = value.slice(part.start, part.end);
  }
  return value[0] === '"' ? value : undefined;
}

/** Metadata that is no object, or has another member with this name, stays as it is. @param {string} metadata @param {object} mark */
function marked(metadata, mark) {
  if (metadata[0] !== "{") return metadata;
  const parts = members(metadata);
  if (parts.has(MARK)) return metadata;
  const member = `"${MARK}":${JSON.stringify(mark)}`;
  return `{${member}${parts.size > 0 ? "," : ""}${metadata.slice(1)}`;
}
