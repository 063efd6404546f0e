/** What differs between backends: the exporter, where its server is said to be, and the shape that verl gives a record there. */
import { jsonOf } from "./json.js";
import { trackioEntry } from "./trackio-entry.js";

/** @typedef {import("./call.js").Record} Record */
/** @typedef {import("../write.js").SpanInput} SpanInput */
/**
 * A record with its values as JSON; `output` is `"null"` where nothing came back.
 *
 * @typedef {{ record: Record, inputs: string, output: string }} Prepared
 */
/** @typedef {{ projectName: string, experimentName: string, runId: string }} Run */
/** The part of every exporter that is used. @typedef {{ export: (given: any) => Promise<Result> }} Exporter */
/**
 * What all their results may have.
 *
 * @typedef {object} Result
 * @property {"success" | "retryable" | "failure"} status
 * @property {Error} [error]
 * @property {number} [retryAfterMs]
 * @property {unknown[]} [rejected]
 * @property {number} [rejectedSpans]
 */
/**
 * @typedef {object} Backend
 * @property {globalThis.Record<string, string>} environment Variables that stand for options of the exporter, as for verl's clients.
 * @property {(server: globalThis.Record<string, any>, run: Run) => Promise<Exporter>} exporter
 * @property {boolean} hasProject
 * @property {boolean} hasTrajectorySpan Whether a trajectory is a span around its calls.
 * @property {boolean} inheritsAttributes Whether a trajectory inside of another one has its attributes too.
 * @property {(batch: Prepared[], run: Run, isFirst: boolean) => unknown} body What the exporter is given.
 */

/** MLflow's levels of a span's log: debug, and error. */
const LOG_LEVELS = { ok: 10, error: 40 };

/** @type {globalThis.Record<string, Backend>} */
export const BACKENDS = {
  mlflow: {
    environment: {
      url: "MLFLOW_TRACKING_URI",
      username: "MLFLOW_TRACKING_USERNAME",
      password: "MLFLOW_TRACKING_PASSWORD",
      token: "MLFLOW_TRACKING_TOKEN",
    },
    async exporter(server, { projectName }) {
      const { MlflowExporter } = await import("../exporters/mlflow-node.js");
      return new MlflowExporter({ experiment: projectName, .../** @type {{ url: string }} */ (server) });
    },
    hasProject: true,
    hasTrajectorySpan: true,
    inheritsAttributes: false,
    body: (batch) => batch.map((prepared) => ({ ...spanOf(prepared), attributes: jsonOf(mlflowAttributes(prepared.record)) })),
  },
  otlp: {
    environment: { url: "OTEL_EXPORTER_OTLP_ENDPOINT" },
    async exporter(server) {
      const { OtlpExporter } = await import("../exporters/otlp-node.js");
      return new OtlpExporter(/** @type {{ url: string }} */ (server));
    },
    hasProject: false,
    hasTrajectorySpan: true,
    inheritsAttributes: false,
    body: (batch) => batch.map(withAttributes),
  },
  trackio: {
    environment: { url: "TRACKIO_SERVER_URL", writeToken: "TRACKIO_WRITE_TOKEN" },
    async exporter(server, { projectName, experimentName }) {
      const { TrackioExporter } = await import("../exporters/trackio-node.js");
      return new TrackioExporter({ project: projectName, run: experimentName, .../** @type {{ url: string }} */ (server) });
    },
    hasProject: true,
    hasTrajectorySpan: false,
    inheritsAttributes: false,
    body(batch, run, isFirst) {
      const entries = batch.map((prepared, i) => trackioEntry(prepared, run, isFirst && i === 0));
      return new TextEncoder().encode(`{"hf_token":null,"logs":[${entries.join()}]}`);
    },
  },
  weave: {
    environment: { url: "WF_TRACE_SERVER_URL", apiKey: "WANDB_API_KEY" },
    async exporter(server, { projectName }) {
      const { WeaveExporter } = await import("../exporters/weave-node.js");
      return new WeaveExporter({ project: projectName, ...server });
    },
    hasProject: true,
    hasTrajectorySpan: false,
    inheritsAttributes: true,
    body: (batch) => batch.map((prepared) => ({ ...withAttributes(prepared), error: weaveException(prepared.record.thrown), events: undefined })),
  },
};

/** What all spans have. @param {Prepared} prepared @returns {SpanInput} */
function spanOf({ record, inputs, output }) {
  const { name, trace, spanId, parentId, start, end, thrown, isTrajectory } = record;
  const ids = { traceId: trace.id, spanId, parentId, name, startUnixNano: start, endUnixNano: end };
  const values = isTrajectory ? {} : { inputs, output: thrown ? undefined : output };
  if (!thrown) return { ...ids, ...values, status: "ok" };
  const { type, message, stack } = thrown;
  const attributes = { "exception.message": message, "exception.type": type, "exception.stacktrace": stack };
  const events = jsonOf([{ name: "exception", timeUnixNano: end, attributes }]);
  return { ...ids, ...values, status: "error", error: `${type}: ${message}`, events };
}

/** A span with the attributes of its trajectory. @param {Prepared} prepared @returns {SpanInput} */
function withAttributes(prepared) {
  return { ...spanOf(prepared), attributes: jsonOf(prepared.record.attributes) };
}

/** The type and the level that MLflow's client writes; of a trace that is whole, what becomes its tags. @param {Record} record */
function mlflowAttributes({ parentId, thrown, trace }) {
  const own = { "mlflow.spanType": "UNKNOWN", "mlflow.spanLogLevel": LOG_LEVELS[thrown ? "error" : "ok"] };
  const tags = parentId === undefined ? Object.entries(trace.tags) : [];
  return { ...own, ...Object.fromEntries(tags.map(([key, value]) => [`mlflow.traceTag.${key}`, asPython(value)])) };
}

/** As `str` of Python writes it. @param {unknown} value */
function asPython(value) {
  return typeof value === "boolean" ? (value ? "True" : "False") : String(value);
}

const FRAME = /^\s+at (?:(?:async )?(.*?) \()?(.*?):(\d+):\d+\)?$/;

/** An exception as W&B's Python client writes it: JSON, the innermost frame last. @param {Record["thrown"]} thrown */
function weaveException(thrown) {
  if (!thrown) return undefined;
  const frames = thrown.stack.split("\n").map((line) => line.match(FRAME)).filter((frame) => frame !== null);
  const traceback = frames.map(([, name = "<anonymous>", file, line]) => ({ filename: file, line_number: Number(line), function_name: name, text: "" }));
  return jsonOf({ type: thrown.type, message: thrown.message, traceback: traceback.reverse() });
}
