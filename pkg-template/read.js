import { bodyBytes } from "./enricher.js";
import { load } from "./engines.js";
import { asToken2TextError } from "./errors.js";
import { ORIGIN, checkOptions, optionsText } from "./options.js";

/** @typedef {import("./enricher.js").EnricherOptions} EnricherOptions */
/** @typedef {import("./enricher.js").Origin} Origin */
/** @typedef {import("./span.js").Span} Span */
/**
 * @typedef {Pick<EnricherOptions, "format" | "layouts" | "limits"> & Origin & {
 *   traceInfos?: Uint8Array | ArrayBuffer
 * }} ReadOptions `traceInfos`: what MLflow's server says of traces (the answer of `traces/search`, for instance): their tags
 *   are the trajectories of spans whose body has none.
 */
/** A field as it crosses the boundary: its number of ids, and lists as JSON texts. @typedef {Omit<import("./span.js").SpanField, "ids" | "mask" | "logprobs" | "existing"> & { ids: number, mask?: string, logprobs?: string, existing?: string[] }} Crossing */

const OPTIONS = ["format", "layouts", "limits", ...ORIGIN, "traceInfos"];

/**
 * Reads the spans of a body as plain data: ids, names, times, inputs and output, and the fields of token ids that the
 * layouts find. It needs no tokenizer, and loads a WebAssembly module of its own at the first call. The halves of a Weave call are one span; so is an event stream.
 *
 * @param {Uint8Array | ArrayBuffer} bytes A JSON document, JSON lines, an event stream or OTLP's protocol buffers. They are not
 *   copied: leave them as they are until the spans are there.
 * @param {ReadOptions} [options]
 * @returns {Promise<Span[]>}
 */
export async function read(bytes, options) {
  const body = bodyBytes(bytes, "read");
  const { contentType, url, traceInfos, ...rest } = checkOptions(options, OPTIONS, "read");
  const json = optionsText(rest, "read");
  const infos = traceInfos === undefined ? new Uint8Array() : bodyBytes(traceInfos, "the option `traceInfos` of read");
  const { glue } = await load("spans", "read");
  let answer;
  try {
    answer = glue.read(body, json, String(contentType ?? ""), String(url ?? ""), infos);
  } catch (error) {
    throw asToken2TextError(error);
  }
  const [text, ids] = /** @type {[string, Uint32Array]} */ (/** @type {unknown} */ (answer));
  /** @type {Span[]} */
  const spans = JSON.parse(text);
  let start = 0;
  for (const span of spans) {
    for (const field of span.fields) {
      const { ids: count } = /** @type {Crossing} */ (/** @type {unknown} */ (field));
      // Each has a buffer of its own, so that it can be moved to another thread.
      takeApart(field, ids.slice(start, start + count));
      start += count;
    }
  }
  return spans;
}

/** @param {import("./span.js").SpanField} field @param {Uint32Array<ArrayBuffer>} ids */
function takeApart(field, ids) {
  const { mask, logprobs, existing, rows } = /** @type {Crossing} */ (/** @type {unknown} */ (field));
  field.ids = ids;
  if (mask !== undefined) field.mask = Int32Array.from(numbers(mask, rows !== undefined));
  if (logprobs !== undefined) field.logprobs = Float64Array.from(numbers(logprobs, rows !== undefined));
  if (existing !== undefined && rows === undefined) field.existing = existing[0];
}

/**
 * The numbers of a list; of a list of lists, if there are rows, those of all. Python's JSON has names for what is no finite
 * number; what is no number at all is NaN.
 *
 * @param {string} json
 * @param {boolean} inRows
 */
function numbers(json, inRows) {
  const list = JSON.parse(json.replace(/"(?:[^"\\]|\\.)*"|NaN|-?Infinity/g, (text) => (text.startsWith('"') ? text : `"${text}"`)));
  const items = inRows ? list.flat() : list;
  return items.map((/** @type {unknown} */ item) => (["number", "boolean", "string"].includes(typeof item) ? Number(item) : NaN));
}
