/** What MLflow's list of traces shows of one: the beginnings of its request and its response. */
import { members, tryParseExact } from "./exact-json.js";

/** @typedef {import("./exact-json.js").Exact} Exact */
/** @typedef {import("./exact-json.js").ExactObject} ExactObject */
/** @typedef {{ request_preview?: string, response_preview?: string }} Previews */
/**
 * A trace as `GET /api/3.0/mlflow/traces/{id}` gives it.
 *
 * @typedef {object} TraceInfo
 * @property {string} trace_id
 * @property {{ type?: string, mlflow_experiment?: { experiment_id: string } }} trace_location
 * @property {string} request_time
 * @property {string} [execution_duration]
 * @property {"OK" | "ERROR" | "IN_PROGRESS" | "STATE_UNSPECIFIED"} state
 * @property {Record<string, string>} [trace_metadata]
 * @property {Record<string, string>} [tags]
 * @property {string} [client_request_id]
 * @property {string} [request_preview]
 * @property {string} [response_preview]
 * @property {{ assessment_name?: string, span_id?: string, source?: { source_id?: string } }[]} [assessments]
 */

/** The column of the server's database has as many. */
const MAX_CHARS = 1000;
/** Attributes that may hold a text, most telling first. */
const SOURCES = ["mlflow.spanOutputs", "mlflow.spanInputs", "output.value", "input.value", "gen_ai.output.messages"];
const TEXTS = /** @type {const} */ ([
  ["request_preview", "prompt_text"],
  ["response_preview", "response_text"],
]);

/**
 * The previews that should be set: those that are empty, and those that show the ids of the root span. A preview that says
 * something else is left alone.
 *
 * @param {TraceInfo} info
 * @param {ExactObject[]} spans
 * @returns {Previews}
 */
export function previewsFor(info, spans) {
  /** @type {Previews} */
  const previews = {};
  const topmost = byDepth(spans);
  for (const [preview, key] of TEXTS) {
    const current = info[preview] ?? "";
    const candidates = current === "" ? topmost : /^[{[]/.test(current) ? topmost.filter(isRoot) : [];
    const text = firstText(candidates, key);
    if (text !== undefined && text !== "") previews[preview] = shortened(text);
  }
  return previews;
}

/** The beginnings of the texts nearest to the root. @param {ExactObject[]} spans @returns {{ prompt?: string, response?: string }} */
export function outermostTexts(spans) {
  const topmost = byDepth(spans);
  const [prompt, response] = TEXTS.map(([, key]) => firstText(topmost, key));
  return { prompt: prompt && shortened(prompt), response: response && shortened(response) };
}

/** @param {ExactObject} span */
function isRoot(span) {
  return !span.get("parent_span_id");
}

/** @param {ExactObject[]} spans */
function byDepth(spans) {
  const parents = new Map(spans.map((span) => [span.get("span_id"), span.get("parent_span_id")]));
  /** @param {ExactObject} span */
  const depth = (span) => {
    let steps = 0;
    for (let id = span.get("parent_span_id"); id && steps < spans.length; id = parents.get(id)) steps++;
    return steps;
  };
  return spans.map((span) => ({ span, depth: depth(span) })).sort((a, b) => a.depth - b.depth).map(({ span }) => span);
}

/** @param {ExactObject[]} spans @param {string} key */
function firstText(spans, key) {
  for (const span of spans) {
    const text = textOf(members(span.get("attributes")), key);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** @param {ExactObject} attributes @param {string} key */
function textOf(attributes, key) {
  for (const source of [`token2text.${key}`, ...SOURCES]) {
    const json = attributes.get(source);
    if (typeof json !== "string") continue;
    if (source.endsWith(key)) return asText(tryParseExact(json));
    // Most values have no text; parsing their ids would be for nothing.
    const text = json.includes(`"${key}"`) ? search(tryParseExact(json), key) : undefined;
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The first text with this name, outer ones before inner ones. @param {Exact | undefined} value @param {string} key @returns {string | undefined} */
function search(value, key) {
  const own = asText(members(value).get(key));
  if (own !== undefined) return own;
  for (const inner of value instanceof Map ? value.values() : Array.isArray(value) ? value : []) {
    const text = search(inner, key);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Several texts are one preview. @param {Exact | undefined} value */
function asText(value) {
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string")) return value.join("\n");
  return typeof value === "string" ? value : undefined;
}

/** @param {string} text */
function shortened(text) {
  const chars = Array.from(text.slice(0, 2 * MAX_CHARS), (char) => (/[\p{Surrogate}\0]/u.test(char) ? "\u{FFFD}" : char));
  return chars.slice(0, MAX_CHARS).join("");
}

/**
 * The body that sets previews and nothing else: times and state are those of the trace, which a post would overwrite; tags
 * and metadata are merged, so they stay.
 *
 * @param {TraceInfo} info
 * @param {Previews} previews
 */
export function previewBody({ trace_id, trace_location, request_time, execution_duration, state, client_request_id }, previews) {
  return { trace: { trace_info: { trace_id, trace_location, request_time, execution_duration, state, client_request_id, ...previews } } };
}
