import { Token2TextError, messageOf } from "../errors.js";
import { failure } from "./http.js";
import { ArtifactRoute } from "./mlflow-artifacts.js";
import { forMlflow } from "./mlflow-attributes.js";
import { MlflowClient, errorCode, jsonOf } from "./mlflow-client.js";
import { logGenerations } from "./mlflow-generations.js";
import { outermostTexts, previewBody, previewsFor } from "./mlflow-previews.js";
import { storedSpans, toStored } from "./mlflow-spans.js";
import { JSON_TYPE, otlpBody } from "./otlp-body.js";
import { toProtobuf } from "./otlp-json.js";
import { groupBy, hasText, joinSpans, splitSpans, storable } from "./otlp-request.js";

/** @typedef {import("./otlp-request.js").WireSpan} WireSpan */
/** @typedef {import("./http.js").Retryable} Retryable */
/** @typedef {import("./http.js").Failure} Failure */
/**
 * @typedef {object} ExporterOptions
 * @property {"auto" | "otlp" | "artifact"} [route] `"otlp"` sends spans to `/v1/traces`; `"artifact"` uploads the file of a
 *   trace, which is all that a page of another origin can do where MLflow has a login, and only one writer at a time may.
 *   Default: `"auto"`, the file in such a page and OTLP anywhere else.
 */
/**
 * A span that the server refused. `httpStatus` is that of the answer to it alone: 500 may also mean that the server is ill.
 *
 * @typedef {{ traceId: string, spanId: string, error: Token2TextError, httpStatus?: number }} Rejected
 */
/**
 * `failure` with `rejected`: all other spans are stored. `retryable`: some may be stored; sending the same again is harmless.
 *
 * `repaired` tells what was replaced in the copy that was sent.
 *
 * @typedef {{ status: "success", spans: number, repaired: import("./otlp-request.js").Repaired[] } | Retryable | (Failure & { rejected?: Rejected[] })} ExportResult
 */

/** The server's cost is per request, but one bad span makes it refuse all. */
const MAX_BATCH_SPANS = 100;
const MAX_BATCH_BYTES = 4_000_000;
/** Answers about the spans, not about who asks. */
const ABOUT_SPANS = [400, 413, 422, 500];
/** Traces that an exporter remembers; older ones are forgotten. */
const MAX_REMEMBERED = 10_000;

/** Sends spans to a server of MLflow. One export at a time; nothing is tried again, see `withRetry`. */
export class MlflowExporter {
  #client;
  #route;
  #memory = {
    /** Traces that the server will never take. @type {Map<string, Token2TextError>} */
    setAside: new Map(),
    /** Traces whose root has not come yet. @type {Map<string, true>} */
    open: new Map(),
  };

  /**
   * @param {import("./mlflow-client.js").MlflowOptions & ExporterOptions} options
   * @throws {Token2TextError} `invalid_options`.
   *
   * @example
   *   const exporter = new MlflowExporter({ url: "http://127.0.0.1:5000", experiment: "rollouts" });
   *   const send = withRetry((body) => exporter.export(body));
   *   const result = await send(enricher.enrichBody(body).body);
   */
  constructor({ route = "auto", ...options }) {
    this.#client = new MlflowClient(options);
    if (!["auto", "otlp", "artifact"].includes(route)) {
      throw new Token2TextError("invalid_options", `route is "auto", "otlp" or "artifact", not \`${route}\``);
    }
    this.#route = route === "auto" ? (this.#client.isForeignWithLogin ? "artifact" : "otlp") : route;
  }

  /**
   * Stores the spans of an OTLP request (not compressed), or spans as `read` gives them. Never throws.
   *
   * @param {Uint8Array | ArrayBuffer | import("./body.js").Spans} given
   * @param {import("./otlp-body.js").Origin} [origin]
   * @returns {Promise<ExportResult>}
   */
  async export(given, origin) {
    try {
      const { body, contentType } = await otlpBody(given, origin);
      return await this.#export(splitSpans(contentType === JSON_TYPE ? toProtobuf(body) : body));
    } catch (error) {
      if (error instanceof Token2TextError) return { status: "failure", error };
      return failure("internal", `the export failed: ${error}; this is a bug: please report it`, error);
    }
  }

  /**
   * Stores the samples of a validation as verl does: the file `val_step<step>.json` of a run, a list of objects with
   * `input`, `output` and `score`. Never throws.
   *
   * @param {import("./mlflow-generations.js").Sample[]} samples Input, output and score; input and output are texts, or ids if
   *   there is a tokenizer. Special tokens are left out.
   * @param {import("./mlflow-generations.js").GenerationOptions} options
   * @returns {Promise<{ status: "success", runId: string } | Retryable | Failure>}
   */
  async logGenerations(samples, options) {
    try {
      return await logGenerations(this.#client, samples, options);
    } catch (error) {
      return failure("refused", `MLflow gave no answer that can be understood: ${messageOf(error)}`, error);
    }
  }

  /** @param {WireSpan[]} given @returns {Promise<ExportResult>} */
  async #export(given) {
    const experiment = await this.#client.experimentId({ create: true });
    if (experiment.status !== "success") return experiment;
    const { spans, repaired } = storable(given);
    const delivery = new Delivery(this.#client, experiment.id, this.#memory);
    const traces = groupBy(spans, (span) => span.traceId).map(([, trace]) => forMlflow(trace));
    const stopped = await (this.#route === "otlp" ? delivery.sendTraces(traces) : delivery.uploadTraces(traces));
    this.#forgetOldest();
    if (stopped) return stopped;
    const { rejected } = delivery;
    if (rejected.length === 0) return { status: "success", spans: spans.length, repaired };
    const message = `MLflow refused ${rejected.length} of ${spans.length} spans, the first because of ${rejected[0].error.message}`;
    return { ...failure("refused", message, rejected[0].error), rejected };
  }

  #forgetOldest() {
    for (const traces of Object.values(this.#memory)) {
      for (const traceId of traces.keys()) {
        if (traces.size <= MAX_REMEMBERED) break;
        traces.delete(traceId);
      }
    }
  }
}

/** One export under way. Its methods give the result that ends it early, if one does. */
class Delivery {
  /** @type {Rejected[]} */
  rejected = [];

  /**
   * @param {MlflowClient} client
   * @param {string} experimentId
   * @param {{ setAside: Map<string, Token2TextError>, open: Map<string, true> }} memory
   */
  constructor(client, experimentId, { setAside, open }) {
    this.client = client;
    this.experimentId = experimentId;
    this.setAside = setAside;
    this.open = open;
  }

  /** @param {WireSpan[][]} traces @returns {Promise<Retryable | Failure | undefined>} */
  async sendTraces(traces) {
    for (const batch of batches(this.#wanted(traces))) {
      const stopped = await this.#send(batch);
      if (stopped) return stopped;
    }
    const refused = new Set(this.rejected.map(({ spanId, traceId }) => `${traceId} ${spanId}`));
    for (const trace of traces) {
      const [{ traceId }] = trace;
      const root = trace.find(({ parentId }) => parentId === "");
      const isClosed = root !== undefined && !refused.has(`${traceId} ${root.spanId}`);
      const stopped = isClosed ? await this.#setPreviews(traceId, trace) : undefined;
      if (stopped) return stopped;
      if (isClosed) this.open.delete(traceId);
      else this.open.set(traceId, true);
    }
    return undefined;
  }

  /** @param {WireSpan[][]} traces @returns {Promise<Retryable | Failure | undefined>} */
  async uploadTraces(traces) {
    const route = new ArtifactRoute(this.client, this.experimentId);
    for (const trace of this.#wanted(traces)) {
      const result = await route.upload(trace);
      if (result.status === "success") continue;
      if (result.status === "retryable" || result.httpStatus === 401 || result.httpStatus === 403) return result;
      this.#reject(trace, result.error);
    }
    return undefined;
  }

  /** Traces that were not set aside before. @param {WireSpan[][]} traces */
  #wanted(traces) {
    return traces.filter((trace) => {
      const error = this.setAside.get(trace[0].traceId);
      if (error) this.#reject(trace, error);
      return error === undefined;
    });
  }

  /** Sends spans, by halves if they are refused. @param {WireSpan[]} spans @returns {Promise<Retryable | Failure | undefined>} */
  async #send(spans) {
    const result = await this.client.send("/v1/traces", {
      body: joinSpans(spans),
      headers: { "content-type": "application/x-protobuf", "x-mlflow-experiment-id": this.experimentId },
      gzip: this.client.gzip,
    });
    if (result.status === "success") return undefined;
    if (result.status === "retryable" || !ABOUT_SPANS.includes(result.httpStatus ?? 0)) return result;
    const isOneTrace = spans.every(({ traceId }) => traceId === spans[0].traceId);
    if (isOneTrace && errorCode(result) === "INVALID_STATE") {
      this.setAside.set(spans[0].traceId, result.error);
      this.#reject(spans, result.error);
      return undefined;
    }
    if (spans.length === 1) {
      this.#reject(spans, result.error, result.httpStatus);
      return undefined;
    }
    const middle = spans.length >> 1;
    return (await this.#send(spans.slice(0, middle))) ?? this.#send(spans.slice(middle));
  }

  /** @param {WireSpan[]} spans @param {Token2TextError} error @param {number} [httpStatus] */
  #reject(spans, error, httpStatus) {
    for (const { traceId, spanId } of spans) this.rejected.push({ traceId, spanId, error, ...(httpStatus && { httpStatus }) });
  }

  /**
   * The server takes previews from the root's inputs and output, which are ids or nothing. Of a trace that came in parts the
   * texts are read from what is stored.
   *
   * @param {string} hexId
   * @param {WireSpan[]} trace
   * @returns {Promise<Retryable | Failure | undefined>}
   */
  async #setPreviews(hexId, trace) {
    const id = `tr-${hexId}`;
    const texted = trace.some(({ bytes }) => hasText(bytes, "_text"));
    let spans = texted ? trace.map(({ bytes }) => toStored(bytes)) : [];
    if (this.open.has(hexId)) {
      const stored = await this.client.send(`/ajax-api/3.0/mlflow/get-trace-artifact?request_id=${id}`);
      if (stored.status !== "success") return stored;
      spans = storedSpans(stored.body);
    }
    const { prompt, response } = outermostTexts(spans);
    if (prompt === undefined && response === undefined) return undefined;
    const read = await this.client.send(`/api/3.0/mlflow/traces/${id}`);
    if (read.status !== "success") return read;
    const info = jsonOf(read).trace?.trace_info;
    const previews = previewsFor(info, spans);
    if (Object.keys(previews).length === 0) return undefined;
    const posted = await this.client.send("/api/3.0/mlflow/traces", { json: previewBody(info, previews) });
    return posted.status === "success" ? undefined : posted;
  }
}

/** Whole traces together, up to the bounds of a request. @param {WireSpan[][]} traces */
function batches(traces) {
  /** @type {WireSpan[][]} */
  const all = [];
  let bytes = 0;
  for (const trace of traces) {
    const size = trace.reduce((sum, span) => sum + span.bytes.length, 0);
    const last = all.at(-1);
    const fits = last !== undefined && last.length + trace.length <= MAX_BATCH_SPANS && bytes + size <= MAX_BATCH_BYTES;
    if (fits) last.push(...trace);
    else all.push([...trace]);
    bytes = fits ? bytes + size : size;
  }
  return all;
}
