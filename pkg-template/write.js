import { load } from "./engines.js";
import { Token2TextError, asToken2TextError, describe } from "./errors.js";
import { checkOptions, jsonText } from "./options.js";

/** @typedef {import("./tokenizer.js").Bytes} Bytes */
/**
 * A span as `write` takes it. Members that are not named here, as `path` and `fields` of a span that was read, are ignored.
 *
 * @typedef {object} SpanInput
 * @property {string} [traceId] In whatever spelling; without one the span is in the trace of the span around it.
 * @property {string} [spanId]
 * @property {string | null} [parentId]
 * @property {string} [name]
 * @property {string | null} [startUnixNano] Nanoseconds since 1970, in decimal.
 * @property {string | null} [endUnixNano]
 * @property {"unset" | "ok" | "error"} [status]
 * @property {string | null} [error]
 * @property {string | null} [model]
 * @property {number | null} [step]
 * @property {number | null} [sampleIndex]
 * @property {number | null} [rolloutN]
 * @property {boolean | null} [validate]
 * @property {string | null} [experimentName]
 * @property {string | null} [inputs] JSON text.
 * @property {string | null} [output] JSON text.
 * @property {string | null} [attributes] JSON text of an object.
 * @property {string | null} [events] JSON text of a list of `{ name, timeUnixNano, attributes }`; without `attributes` other members are.
 */
/** @typedef {"record" | "otlp-json" | "otlp-proto" | "mlflow" | "weave" | "trackio"} WriteFormat */
/**
 * What a backend asks for that no span has.
 *
 * @typedef {object} WriteOptions
 * @property {string} [projectId] Weave: `"entity/project"`. Needed.
 * @property {string} [project] Trackio: the name of the project. Needed.
 * @property {string} [run] Trackio: the name of the run. Needed.
 * @property {string} [runId] Trackio: the id of the run. Default: its server takes the name.
 */

const MEMBERS = [
  "traceId",
  "spanId",
  "parentId",
  "name",
  "startUnixNano",
  "endUnixNano",
  "status",
  "error",
  "model",
  "step",
  "sampleIndex",
  "rolloutN",
  "validate",
  "experimentName",
  "inputs",
  "output",
  "attributes",
  "events",
];
const OPTIONS = ["projectId", "project", "run", "runId"];

/**
 * Writes spans as a body that a backend takes: a trace request of OTLP, MLflow's `traces.json`, a batch for Weave's
 * `calls/complete`, a body for Trackio's `bulk_log`, or JSON lines. It loads a WebAssembly module of its own
 * at the first call, the same as `read`.
 *
 * @param {readonly SpanInput[]} spans
 * @param {WriteFormat} format
 * @param {WriteOptions} [options]
 * @returns {Promise<Bytes>}
 */
export async function write(spans, format, options) {
  const json = spansText(spans);
  const optionsJson = jsonText({ ...checkOptions(options, OPTIONS, "write"), format: String(format) }, "the options of write");
  const { glue } = await load("spans", "write");
  try {
    return /** @type {Bytes} */ (glue.write(json, optionsJson));
  } catch (error) {
    throw asToken2TextError(error);
  }
}

/** The spans as JSON, with what can be written of them only. @param {unknown} spans */
function spansText(spans) {
  if (!Array.isArray(spans)) throw new Token2TextError("invalid_body", `write takes a list of spans, not ${describe(spans)}`);
  const picked = spans.map((span, i) => {
    if (typeof span !== "object" || span === null) throw new Token2TextError("invalid_body", `spans[${i}] is ${describe(span)}, not a span`);
    return Object.fromEntries(MEMBERS.map((name) => [name, member(span, name, i)]));
  });
  return JSON.stringify(picked);
}

/** JSON has no infinities, and would make null of them. @param {any} span @param {string} name @param {number} i */
function member(span, name, i) {
  const value = span[name];
  if (["string", "boolean", "undefined"].includes(typeof value) || value === null || Number.isFinite(value)) return value;
  throw new Token2TextError("invalid_body", `spans[${i}].${name} is ${describe(value)}`);
}
