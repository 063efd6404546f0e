/** Texts written into a stored trace, step by step, so that what is interrupted can be begun again. */
import { Token2TextError } from "../errors.js";
import { elements, members, parseExact, stringifyExact, tryParseExact } from "./exact-json.js";
import { SPANS_LOCATION, spansPath } from "./mlflow-artifacts.js";
import { outermostTexts, previewBody, previewsFor } from "./mlflow-previews.js";
import { Unsendable, spanIdOf, storedSpans, toOtlp, traceIdOf } from "./mlflow-spans.js";
import { requestOf } from "./otlp-request.js";
import { concat } from "./wire.js";

/** @typedef {import("./exact-json.js").Exact} Exact */
/** @typedef {import("./exact-json.js").ExactObject} ExactObject */
/** @typedef {import("./mlflow-previews.js").TraceInfo} TraceInfo */
/** @typedef {import("../report.js").Report} Report */
/** @typedef {(path: string, call?: import("./mlflow-client.js").Call) => Promise<import("./http.js").HttpSuccess>} Send */
/** The Enricher of `token2text` or of `token2text/worker`. @typedef {{ enrichBody: (body: Uint8Array, origin: { url: string }) => Result | Promise<Result> }} AnyEnricher */
/** @typedef {{ body: Uint8Array<ArrayBuffer>, report: Report }} Result */
/** @typedef {"view" | "annotate" | "in-place"} Mode */
/**
 * @typedef {object} WriteOptions
 * @property {Mode} [mode] Default: `"view"`.
 * @property {boolean} [dryRun] Finds out what would be done. Default: false.
 */
/** The server, as a WriteBack sees it. @typedef {{ send: Send, info: (traceId: string) => Promise<TraceInfo>, spans: (traceId: string) => Promise<Uint8Array<ArrayBuffer> | undefined>, reachesOtlp: boolean, gzip: boolean }} Store */
/**
 * What was done, or would be.
 *
 * @typedef {object} Outcome
 * @property {"changed" | "unchanged" | "skipped"} status `"unchanged"`: there was nothing to do.
 * @property {SkipReason} [reason]
 * @property {string} [detail] The reason in words.
 * @property {number} spans Spans that got text, or were annotated.
 * @property {boolean} previews Whether what the list of traces shows was set.
 * @property {{ prompt?: string, response?: string }} [texts] The beginnings of the outermost texts.
 * @property {Uint8Array<ArrayBuffer>} [body] The spans with their texts, as the server's JSON.
 * @property {Report} [report]
 */
/** @typedef {"done-before" | "in-progress" | "no-spans" | "archived" | "foreign-id" | "unsendable" | "cross-origin" | "stored-otherwise"} SkipReason */

/** The value of the mark: how texts are written. */
const VERSION = "1";
/** Tags of traces that are done. @type {Record<Mode, string>} */
const MARKS = { view: "", annotate: "token2text.annotated", "in-place": "token2text.version" };
const SOURCE = "token2text";

/** Finds the traces that a mode has not done yet, in MLflow's language for filters; undefined is all. @param {Mode} mode */
export function pendingFilter(mode) {
  return MARKS[mode] === "" ? undefined : `tags.\`${MARKS[mode]}\` IS NULL`;
}

/** Ends a write-back before it wrote anything. */
class Skip extends Error {
  /** @param {SkipReason} reason @param {string} detail */
  constructor(reason, detail) {
    super(detail);
    this.reason = reason;
  }
}

export class WriteBack {
  /**
   * @param {Store} store
   * @param {AnyEnricher} enricher
   * @param {WriteOptions} options
   */
  constructor(store, enricher, { mode = "view", dryRun = false }) {
    if (!(mode in MARKS)) throw new Token2TextError("invalid_options", `mode is "view", "annotate" or "in-place", not \`${mode}\``);
    this.store = store;
    this.enricher = enricher;
    this.mode = mode;
    this.writes = mode !== "view" && !dryRun;
  }

  /** @param {string} traceId @returns {Promise<Outcome>} */
  async run(traceId) {
    try {
      return await this.#run(traceId);
    } catch (error) {
      if (error instanceof Skip) return { status: "skipped", reason: error.reason, detail: error.message, spans: 0, previews: false };
      throw error;
    }
  }

  /** @param {string} traceId @returns {Promise<Outcome>} */
  async #run(traceId) {
    const info = await this.store.info(traceId);
    if (this.mode !== "view") this.#refuseUnfit(info);
    const before = await this.#spans(traceId);
    const { body, report } = await this.enricher.enrichBody(before, { url: "/ajax-api/3.0/mlflow/get-trace-artifact" });
    const { decoded, replaced, kept } = report.totals;
    const nothing = { status: /** @type {const} */ ("unchanged"), spans: 0, previews: false, body, report };
    if (decoded + replaced + kept === 0) return nothing;
    return { ...nothing, texts: outermostTexts(storedSpans(body)), ...(await this.#write(info, before, body, report)) };
  }

  /**
   * @param {TraceInfo} info
   * @param {Uint8Array} before
   * @param {Uint8Array<ArrayBuffer>} body
   * @param {Report} report
   * @returns {Promise<Partial<Outcome>>}
   */
  async #write(info, before, body, report) {
    if (this.mode === "annotate") return this.#annotate(info, body, report);
    const changed = changedSpans(before, body);
    const previews = previewsFor(info, storedSpans(body));
    const setsPreviews = differ(info, previews);
    const messages = this.mode === "in-place" ? prepared(info, changed, this.store) : [];
    if (this.writes) {
      if (changed.length > 0) await this.#writeSpans(info, messages, body);
      if (setsPreviews) await this.store.send("/api/3.0/mlflow/traces", { json: previewBody(info, previews) });
      await this.#mark(info.trace_id);
    }
    if (changed.length === 0 && !setsPreviews) return {};
    const wrong = this.writes ? changedSpans(body, await this.#spans(info.trace_id)) : [];
    const detail = `the server stored ${wrong.length} spans of ${info.trace_id} in another form than they were sent`;
    const otherwise = wrong.length > 0 ? { reason: /** @type {const} */ ("stored-otherwise"), detail } : {};
    return { status: "changed", spans: changed.length, previews: setsPreviews, ...otherwise };
  }

  /** @param {string} traceId */
  async #spans(traceId) {
    const spans = await this.store.spans(traceId);
    if (!spans) throw new Skip("no-spans", `the server has no spans of ${traceId}`);
    return spans;
  }

  /** @param {TraceInfo} info */
  #refuseUnfit({ state, tags = {}, trace_id: id }) {
    if (tags[MARKS[this.mode]] !== undefined) throw new Skip("done-before", `${id} was done before`);
    if (state === "IN_PROGRESS") throw new Skip("in-progress", `${id} is not finished, and its writer would write over the texts`);
  }

  /** @param {TraceInfo} info @param {Uint8Array[]} messages @param {Uint8Array} body */
  async #writeSpans(info, messages, body) {
    if (!isInDatabase(info)) {
      await this.store.send(String(spansPath(info)), { method: "PUT", body, headers: { "content-type": "application/json" } });
      return;
    }
    const experimentId = info.trace_location.mlflow_experiment?.experiment_id ?? "0";
    const headers = { "content-type": "application/x-protobuf", "x-mlflow-experiment-id": experimentId };
    await this.store.send("/v1/traces", { body: requestOf(messages), headers, gzip: this.store.gzip });
  }

  /** The last step: until then all is done again. @param {string} traceId */
  async #mark(traceId) {
    await this.store.send(`/api/3.0/mlflow/traces/${encodeURIComponent(traceId)}/tags`, { method: "PATCH", json: { key: MARKS[this.mode], value: VERSION } });
  }

  /**
   * One assessment for each text, on the span that has its ids.
   *
   * @param {TraceInfo} info @param {Uint8Array} body @param {Report} report
   * @returns {Promise<Partial<Outcome>>}
   */
  async #annotate(info, body, report) {
    const document = parseExact(new TextDecoder().decode(body));
    const made = new Set((info.assessments ?? []).filter(({ source }) => source?.source_id === SOURCE).map((made) => `${made.span_id} ${made.assessment_name}`));
    const spans = new Set();
    for (const { kind, path, textPath } of report.fields) {
      const [, number] = /^\/spans\/(\d+)\//.exec(path) ?? [];
      const text = textPath === undefined ? undefined : follow(document, textPath);
      if (number === undefined || typeof text !== "string") continue;
      const spanId = spanIdOf(members(elements(members(document).get("spans"))[Number(number)]));
      const name = `${kind}_text`;
      if (made.has(`${spanId} ${name}`)) continue;
      made.add(`${spanId} ${name}`);
      spans.add(spanId);
      if (this.writes) await this.#assess(info.trace_id, spanId, name, text, path);
    }
    if (this.writes) await this.#mark(info.trace_id);
    return { status: spans.size > 0 ? "changed" : "unchanged", spans: spans.size };
  }

  /** @param {string} traceId @param {string} spanId @param {string} name @param {string} text @param {string} path */
  async #assess(traceId, spanId, name, text, path) {
    const source = { source_type: "CODE", source_id: SOURCE };
    const assessment = { assessment_name: name, source, feedback: { value: text }, metadata: { path: path.slice(0, 250) }, span_id: spanId };
    await this.store.send(`/api/3.0/mlflow/traces/${encodeURIComponent(traceId)}/assessments`, { json: { assessment } });
  }
}

/** @param {TraceInfo} info @param {import("./mlflow-previews.js").Previews} previews */
function differ(info, { request_preview = info.request_preview, response_preview = info.response_preview }) {
  return request_preview !== info.request_preview || response_preview !== info.response_preview;
}

/** @param {TraceInfo} info */
function isInDatabase({ tags = {} }) {
  return tags[SPANS_LOCATION] === "TRACKING_STORE";
}

/**
 * What OTLP would send. A trace whose spans are a file never gets one, since the server would then show nothing else of it.
 *
 * @param {TraceInfo} info
 * @param {ExactObject[]} changed
 * @param {Store} store
 */
function prepared(info, changed, { reachesOtlp }) {
  const { trace_id: id, tags = {} } = info;
  if (!isInDatabase(info)) {
    if (tags[SPANS_LOCATION] !== undefined) throw new Skip("archived", `the spans of ${id} are at ${tags[SPANS_LOCATION]}, where they cannot be changed`);
    if (spansPath(info) === undefined) throw new Skip("archived", `the spans of ${id} are not on the server, so they cannot be changed`);
    return [];
  }
  if (!reachesOtlp) {
    throw new Skip("cross-origin", `where MLflow has a login, a page of another origin cannot change ${id}; the mode "annotate" can, and so can the command`);
  }
  if (changed.some((span) => `tr-${traceIdOf(span)}` !== id)) {
    throw new Skip("foreign-id", `the spans of ${id} belong to a trace of another id, and OTLP would make a new trace of them`);
  }
  try {
    return changed.map((span) => concat(toOtlp(span)));
  } catch (error) {
    if (error instanceof Unsendable) throw new Skip("unsendable", `${id} cannot be sent back unchanged: ${error.message}`);
    throw error;
  }
}

/** The spans of `after` that do not say the same in `before`. @param {Uint8Array} before @param {Uint8Array} after */
function changedSpans(before, after) {
  const known = new Map(storedSpans(before).map((span) => [span.get("span_id"), content(span)]));
  return storedSpans(after).filter((span) => known.get(span.get("span_id")) !== content(span));
}

/** What a span says, without the spaces and escapes of its attributes, which the server writes in its own way. @param {ExactObject} span */
function content(span) {
  const attributes = [...members(span.get("attributes"))].map(([key, json]) => {
    const value = typeof json === "string" ? tryParseExact(json) : undefined;
    return /** @type {const} */ ([key, value === undefined ? json : value]);
  });
  return stringifyExact(new Map([...span, ["attributes", new Map(attributes)]]));
}

/** The value at an address of a report. @param {Exact} document @param {string} path */
function follow(document, path) {
  /** @type {Exact | undefined} */
  let value = document;
  for (const step of path.split("/").slice(1)) {
    if (step === "!json") value = typeof value === "string" ? tryParseExact(value) : value;
    else if (Array.isArray(value)) value = value[Number(step)];
    else value = members(value).get(step.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return value;
}
