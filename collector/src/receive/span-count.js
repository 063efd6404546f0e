/** How many spans are in a request: the number that a partial success is about. Finds also what is no request. */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { JSON_TYPE } from "./answers.js";
import { Refusal } from "./refusal.js";

/** Numbers of the repeated fields on the way to a span: `resourceSpans`, `scopeSpans`, `spans`. */
const PATH = [1, 2, 2];

/**
 * @param {Uint8Array} body
 * @param {string} contentType
 * @returns {number}
 * @throws {Refusal} 400: it is no request of OTLP.
 */
export function countSpans(body, contentType) {
  return contentType === JSON_TYPE ? spansInJson(body).length : countInMessage(body);
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

/**
 * @param {Uint8Array} body
 * @returns {any[]} As they were parsed, whatever they are.
 * @throws {Refusal} 400: it is no request of OTLP in JSON.
 */
export function spansInJson(body) {
  let request;
  try {
    request = JSON.parse(new TextDecoder().decode(body));
  } catch (error) {
    throw new Refusal(400, `the body is not JSON: ${/** @type {Error} */ (error).message}`);
  }
  if (typeof request !== "object" || request === null || Array.isArray(request)) throw new Refusal(400, "the body is not a JSON object");
  return listOf(request, "resourceSpans").flatMap((resource) => {
    return listOf(resource, "scopeSpans").flatMap((scope) => listOf(scope, "spans"));
  });
}

/** A field, in either spelling that readers of protocol buffers' JSON take. @param {any} message @param {string} field @returns {unknown} */
export function member(message, field) {
  return message?.[field] ?? message?.[field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

/** @param {any} message @param {string} field @returns {unknown[]} */
function listOf(message, field) {
  const list = member(message, field) ?? [];
  if (!Array.isArray(list)) throw new Refusal(400, `${field} is not a list`);
  return list;
}

/** @param {Uint8Array} body */
function countInMessage(body) {
  const reader = new BinaryReader(body);
  try {
    return countWithin(reader, body.length, 0);
  } catch {
    throw new Refusal(400, `the body is not OTLP as protocol buffers: damaged at byte ${Math.min(reader.pos, body.length)}`);
  }
}

/** @param {BinaryReader} reader @param {number} end @param {number} depth @returns {number} */
function countWithin(reader, end, depth) {
  let spans = 0;
  while (reader.pos < end) {
    const [number, type] = reader.tag();
    const isOnTheWay = number === PATH[depth] && type === WireType.LengthDelimited;
    if (isOnTheWay && depth + 1 < PATH.length) {
      const length = reader.uint32();
      if (length > end - reader.pos) throw new RangeError("longer than what holds it");
      spans += countWithin(reader, reader.pos + length, depth + 1);
    } else {
      spans += Number(isOnTheWay);
      reader.skip(type, number);
    }
  }
  if (reader.pos > end) throw new RangeError("longer than what holds it");
  return spans;
}
