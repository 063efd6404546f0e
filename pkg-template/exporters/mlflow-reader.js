import { withRetry } from "./http.js";
import { MlflowClient, errorCode, jsonOf } from "./mlflow-client.js";
import { WriteBack } from "./mlflow-write-back.js";

/** @typedef {import("./mlflow-previews.js").TraceInfo} TraceInfo */
/** @typedef {import("./mlflow-client.js").Call} Call */
/** @typedef {import("./http.js").HttpSuccess} HttpSuccess */
/** @typedef {import("./mlflow-write-back.js").Outcome} Outcome */
/** @typedef {import("./mlflow-write-back.js").WriteOptions} WriteOptions */
/**
 * @typedef {object} ReaderOptions
 * @property {import("./http.js").RetryOptions} [retry] How often, and how long, a reader tries again.
 */
/**
 * @typedef {object} SearchOptions
 * @property {string} [filter] In MLflow's language for filters: `tags.step = '3'`, `span.name = 'generate'`.
 * @property {number} [limit] Most traces. Default: all.
 */

const PAGE = 100;

/** Reads the traces of an experiment, and writes texts back into them. */
export class MlflowReader {
  #client;
  #ask;

  /**
   * @param {import("./mlflow-client.js").MlflowOptions & ReaderOptions} options
   * @throws {import("../errors.js").Token2TextError} `invalid_options`.
   *
   * @example
   *   const reader = new MlflowReader({ url: "http://127.0.0.1:5000", experiment: "rollouts" });
   *   for await (const info of reader.search({ filter: "tags.step = '3'" })) {
   *     const { body } = enricher.enrichBody(await reader.spans(info.trace_id));
   *   }
   */
  constructor({ retry, ...options }) {
    this.#client = new MlflowClient(options);
    this.#ask = withRetry((/** @type {string} */ path, /** @type {Call} */ call) => this.#client.send(path, call), { signal: options.signal, ...retry });
  }

  /** @param {string} path @param {Call} [call] @returns {Promise<HttpSuccess>} */
  async #send(path, call = {}) {
    const result = await this.#ask(path, call);
    if (result.status === "success") return result;
    throw result.error;
  }

  /** The address of the server, without credentials. */
  get address() {
    return this.#client.address;
  }

  /**
   * The traces, oldest first; also those that arrive meanwhile. Pages are cut by time, not by offset, so that none is missed or
   * told twice while others come and go.
   *
   * @param {SearchOptions} [options]
   * @returns {AsyncGenerator<TraceInfo>}
   * @throws {import("../errors.js").Token2TextError} `unreachable` or `refused`.
   */
  async *search({ filter, limit = Infinity } = {}) {
    const experiment = await this.#client.experimentId({ create: false });
    if (experiment.status !== "success") throw experiment.error;
    let from = 0;
    let token;
    let given = 0;
    /** Traces of the time `from` that were given already. @type {Set<string>} */
    let seen = new Set();
    while (given < limit) {
      const page = await this.#page(experiment.id, filter, from, token);
      for (const info of page.traces) {
        if (seen.has(info.trace_id)) continue;
        yield info;
        if (++given >= limit) return;
      }
      if (!page.token) return;
      const latest = Math.max(from, ...page.traces.map(timeOf));
      // More traces of one moment than a page has: only an offset tells them apart.
      token = latest === from ? page.token : undefined;
      if (latest > from) seen = new Set();
      for (const info of page.traces) if (timeOf(info) === latest) seen.add(info.trace_id);
      from = latest;
    }
  }

  /** @param {string} experimentId @param {string | undefined} filter @param {number} from @param {string} [token] */
  async #page(experimentId, filter, from, token) {
    const later = `timestamp_ms >= ${from}`;
    const answer = await this.#send("/api/3.0/mlflow/traces/search", {
      json: {
        locations: [{ type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id: experimentId } }],
        filter: filter ? `${filter} AND ${later}` : later,
        order_by: ["timestamp_ms ASC"],
        max_results: PAGE,
        page_token: token,
      },
    });
    const { traces = [], next_page_token } = jsonOf(answer);
    return { traces: /** @type {TraceInfo[]} */ (traces), token: /** @type {string | undefined} */ (next_page_token) };
  }

  /**
   * What is known of a trace beside its spans.
   *
   * @param {string} traceId
   * @returns {Promise<TraceInfo>}
   * @throws {import("../errors.js").Token2TextError}
   */
  async info(traceId) {
    const answer = await this.#send(`/api/3.0/mlflow/traces/${encodeURIComponent(traceId)}`);
    return jsonOf(answer).trace.trace_info;
  }

  /**
   * The spans of a trace as the server's JSON, wherever it keeps them. Parsing it in JavaScript would change its times.
   *
   * @param {string} traceId
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   * @throws {import("../errors.js").Token2TextError}
   */
  async spans(traceId) {
    return (await this.#send(spansRoute(traceId))).body;
  }

  /**
   * Decodes one trace where it lives. The mode `"view"` writes nothing, `"annotate"` adds the texts as assessments beside the
   * trace, `"in-place"` writes them into its spans, for which there is no way back. A trace that has its texts is left alone.
   *
   * @param {string} traceId
   * @param {import("./mlflow-write-back.js").AnyEnricher} enricher
   * @param {WriteOptions} [options]
   * @returns {Promise<Outcome>}
   * @throws {import("../errors.js").Token2TextError} If the server cannot be asked, or its spans are none.
   */
  async enrich(traceId, enricher, options = {}) {
    const store = {
      send: /** @type {import("./mlflow-write-back.js").Send} */ ((path, call) => this.#send(path, call)),
      info: (/** @type {string} */ id) => this.info(id),
      spans: (/** @type {string} */ id) => this.#spansIfAny(id),
      reachesOtlp: !this.#client.isForeignWithLogin,
      gzip: this.#client.gzip,
    };
    return new WriteBack(store, enricher, options).run(traceId);
  }

  /** Nothing where a client has told of the trace, and then sent no spans. @param {string} traceId */
  async #spansIfAny(traceId) {
    const result = await this.#ask(spansRoute(traceId), {});
    if (result.status === "success") return result.body;
    if (errorCode(result) === "NOT_FOUND") return undefined;
    throw result.error;
  }
}

/** @param {string} traceId */
function spansRoute(traceId) {
  return `/ajax-api/3.0/mlflow/get-trace-artifact?request_id=${encodeURIComponent(traceId)}`;
}

/** @param {TraceInfo} info */
function timeOf(info) {
  return Date.parse(info.request_time);
}
