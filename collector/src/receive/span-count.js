/** How many spans are in a request: the number that a partial success is about. Finds also what is no request. */
import { JSON_TYPE } from "./answers.js";
import { Refusal } from "./refusal.js";

/** Numbers of the repeated fields on the way to a span: `resourceSpans`, `scopeSpans`, `spans`. */
const PATH = [1, 2, 2];
const BYTES = 2;
/** Bytes of values by their type of wire; groups are no more. @type {Record<number, number>} */
const LENGTHS = { 1: 8, 5: 4 };

/**
 * @param {Uint8Array} body
 * @param {string} contentType
 * @returns {number}
 * @throws {Refusal} 400: it is no request of OTLP.
 */
export function countSpans(body, contentType) {
  return contentType === JSON_TYPE ? countInJson(body) : countInMessage(body, 0, body.length, 0);
}

/** JSON that holds nothing. */
const NO_SPANS = /^\s*\{\s*(?:"resourceSpans"\s*:\s*\[\s*\]\s*)?\}\s*$/;
/** Such JSON is no longer than that. */
const SHORT_BYTES = 1024;

/**
 * Whether a request holds no spans. Counting is cheap in protocol buffers; JSON is parsed only if something is wrong with it.
 *
 * @param {Uint8Array} body
 * @param {string} contentType
 * @returns {boolean}
 * @throws {Refusal} 400: it is no request of OTLP in protocol buffers.
 */
export function isEmpty(body, contentType) {
  if (body.length === 0) return true;
  if (contentType !== JSON_TYPE) return countSpans(body, contentType) === 0;
  return body.length <= SHORT_BYTES && NO_SPANS.test(new TextDecoder().decode(body));
}

/** @param {Uint8Array} body */
function countInJson(body) {
  let request;
  try {
    request = JSON.parse(new TextDecoder().decode(body));
  } catch (error) {
    throw new Refusal(400, `the body is not JSON: ${/** @type {Error} */ (error).message}`);
  }
  if (typeof request !== "object" || request === null || Array.isArray(request)) throw new Refusal(400, "the body is not a JSON object");
  let spans = 0;
  for (const resource of listOf(request, "resourceSpans")) {
    for (const scope of listOf(resource, "scopeSpans")) spans += listOf(scope, "spans").length;
  }
  return spans;
}

/** @param {any} message @param {string} field @returns {unknown[]} */
function listOf(message, field) {
  const list = message?.[field] ?? [];
  if (!Array.isArray(list)) throw new Refusal(400, `${field} is not a list`);
  return list;
}

/** @param {Uint8Array} bytes @param {number} start @param {number} end @param {number} depth @returns {number} */
function countInMessage(bytes, start, end, depth) {
  let spans = 0;
  for (let at = start; at < end; ) {
    const key = varint(bytes, at, end);
    const type = key.value % 8;
    const wanted = type === BYTES && Math.floor(key.value / 8) === PATH[depth];
    at = key.end;
    if (type === 0) {
      at = varint(bytes, at, end).end;
      continue;
    }
    const length = type === BYTES ? varint(bytes, at, end) : { value: LENGTHS[type] ?? Infinity, end: at };
    if (length.value > end - length.end) throw malformed(at);
    at = length.end + length.value;
    if (wanted) spans += depth + 1 < PATH.length ? countInMessage(bytes, length.end, at, depth + 1) : 1;
  }
  return spans;
}

/** @param {Uint8Array} bytes @param {number} at @param {number} end */
function varint(bytes, at, end) {
  for (let i = at, value = 0, unit = 1; i < end && i < at + 10; i++, unit *= 128) {
    value += (bytes[i] & 0x7f) * unit;
    if (bytes[i] < 0x80) return { value, end: i + 1 };
  }
  throw malformed(at);
}

/** @param {number} at */
function malformed(at) {
  return new Refusal(400, `the body is not OTLP as protocol buffers: damaged at byte ${at}`);
}
