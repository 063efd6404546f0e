/** Traces whose spans are a file, `traces.json`, and not rows of the database. */
import { Numeral, members, stringifyExact } from "./exact-json.js";
import { failure } from "./http.js";
import { traceTags } from "./mlflow-attributes.js";
import { jsonOf } from "./mlflow-client.js";
import { previewsFor } from "./mlflow-previews.js";
import { spanIdOf, storedSpans, toStored } from "./mlflow-spans.js";

/** @typedef {import("./exact-json.js").ExactObject} ExactObject */
/** @typedef {import("./mlflow-client.js").MlflowClient} MlflowClient */
/** @typedef {import("./http.js").HttpResult} HttpResult */
/** @typedef {import("./mlflow-previews.js").TraceInfo} TraceInfo */
/** @typedef {import("./otlp-request.js").WireSpan} WireSpan */

/** Tag that says where the spans of a trace are. */
export const SPANS_LOCATION = "mlflow.trace.spansLocation";
const ARTIFACT_LOCATION = "mlflow.artifactLocation";
const SCHEME = "mlflow-artifacts:";

/**
 * The route of a file below a place for artifacts, or undefined if the server does not keep them itself.
 *
 * @param {string} [uri] `mlflow-artifacts:/1/traces/...`, or with a host.
 * @param {string} [file]
 */
export function artifactPath(uri, file = "") {
  if (!uri?.startsWith(SCHEME)) return undefined;
  const path = uri.slice(SCHEME.length).replace(/^\/\/[^/]*/, "").replace(/^\/+/, "");
  return `/api/2.0/mlflow-artifacts/artifacts/${[...path.split("/"), file].map(encodeURIComponent).join("/")}`;
}

/** The route of the file with the spans of a trace. @param {TraceInfo} info */
export function spansPath({ tags = {} }) {
  return artifactPath(tags[ARTIFACT_LOCATION], "traces.json");
}

/** Writes whole traces: what is there already is read, and the spans are put into it. */
export class ArtifactRoute {
  /** @param {MlflowClient} client @param {string} experimentId */
  constructor(client, experimentId) {
    this.client = client;
    this.experimentId = experimentId;
  }

  /** @param {WireSpan[]} trace All of one trace. @returns {Promise<HttpResult>} */
  async upload(trace) {
    const traceId = `tr-${trace[0].traceId}`;
    const id = encodeURIComponent(traceId);
    // Of several: a trace that there is not is no error there, which a browser would tell.
    const read = await this.client.send("/api/3.0/mlflow/traces/batchGetInfos", { json: { trace_ids: [traceId] } });
    if (read.status !== "success") return read;
    /** @type {TraceInfo | undefined} */
    const before = jsonOf(read).trace_infos?.[0];
    if (before?.tags?.[SPANS_LOCATION] !== undefined) {
      return failure("refused", `the spans of ${traceId} are in the server's database, which a file does not reach; send them by OTLP`);
    }
    const stored = before ? await this.client.send(`/ajax-api/3.0/mlflow/get-trace-artifact?request_id=${id}`) : undefined;
    if (stored?.status === "retryable") return stored;
    // No file yet is an error too: the trace was posted, and then something failed.
    const spans = merged(stored?.status === "success" ? storedSpans(stored.body) : [], trace.map(({ bytes }) => toStored(bytes)));
    const posted = await this.client.send("/api/3.0/mlflow/traces", { json: { trace: { trace_info: this.#info(traceId, spans, before) } } });
    if (posted.status !== "success") return posted;
    const path = spansPath(jsonOf(posted).trace.trace_info);
    if (path === undefined) return failure("refused", `the experiment ${this.experimentId} keeps its files elsewhere than on the server, so none can be uploaded`);
    const body = stringifyExact(new Map([["spans", spans]]));
    return this.client.send(path, { method: "PUT", body, headers: { "content-type": "application/json" }, gzip: false });
  }

  /** @param {string} traceId @param {ExactObject[]} spans @param {TraceInfo} [before] @returns {TraceInfo} */
  #info(traceId, spans, before) {
    const root = spans.find((span) => !span.get("parent_span_id"));
    const start = spans.map((span) => nanos(span, "start_time_unix_nano")).reduce((a, b) => (a < b ? a : b));
    const end = spans.map((span) => nanos(span, "end_time_unix_nano")).reduce((a, b) => (a > b ? a : b));
    /** @type {TraceInfo} */
    const info = {
      trace_id: traceId,
      trace_location: { type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id: this.experimentId } },
      request_time: new Date(Number(start / 1_000_000n)).toISOString(),
      execution_duration: `${(Number((end - start) / 1_000_000n) / 1000).toFixed(3)}s`,
      state: root === undefined ? "IN_PROGRESS" : members(root.get("status")).get("code") === "STATUS_CODE_ERROR" ? "ERROR" : "OK",
      trace_metadata: { "mlflow.trace_schema.version": "3" },
      tags: root === undefined ? {} : traceTags(members(root.get("attributes"))),
    };
    return { ...info, ...previewsFor({ ...info, ...(before ?? {}) }, spans) };
  }
}

/** @param {ExactObject[]} before @param {ExactObject[]} sent */
function merged(before, sent) {
  const spans = new Map(before.map((span) => [spanIdOf(span), span]));
  for (const span of sent) spans.set(spanIdOf(span), span);
  return [...spans.values()];
}

/** @param {ExactObject} span @param {string} key */
function nanos(span, key) {
  const value = span.get(key);
  return value instanceof Numeral && value.isInteger ? BigInt(value.text) : 0n;
}
