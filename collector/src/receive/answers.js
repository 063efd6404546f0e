/** What a receiver of OTLP answers, in the encoding of the request. */

/** How many spans were not stored, and what there is to say. @typedef {{ rejectedSpans: number, message: string }} PartialSuccess */
/** @typedef {{ type: string, body: Buffer }} Answer */

export const PROTOBUF = "application/x-protobuf";
export const JSON_TYPE = "application/json";

/** Codes of google.rpc for statuses of HTTP (google/rpc/code.proto). @type {Record<number, number>} */
const CODES = { 400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 413: 8, 415: 3, 429: 8, 503: 14 };
const INTERNAL = 13;

/**
 * An `ExportTraceServiceResponse`.
 *
 * @param {string} type
 * @param {PartialSuccess} [partial] None: everything is stored.
 * @returns {Answer}
 */
export function successAnswer(type, partial) {
  if (type === JSON_TYPE) {
    const { rejectedSpans = 0, message = "" } = partial ?? {};
    // A number of 64 bits is a string in the JSON of protocol buffers.
    const partialSuccess = { ...(rejectedSpans > 0 && { rejectedSpans: String(rejectedSpans) }), errorMessage: message };
    return inJson(partial ? { partialSuccess } : {});
  }
  const { rejectedSpans = 0, message = "" } = partial ?? {};
  return { type: PROTOBUF, body: partial ? bytesField(1, Buffer.concat([numberField(1, rejectedSpans), textField(2, message)])) : Buffer.alloc(0) };
}

/**
 * A `google.rpc.Status`.
 *
 * @param {string} type
 * @param {number} httpStatus
 * @param {string} message
 * @returns {Answer}
 */
export function errorAnswer(type, httpStatus, message) {
  const code = CODES[httpStatus] ?? INTERNAL;
  return type === PROTOBUF ? { type, body: Buffer.concat([numberField(1, code), textField(2, message)]) } : inJson({ code, message });
}

/** @param {object} value @returns {Answer} */
function inJson(value) {
  return { type: JSON_TYPE, body: Buffer.from(JSON.stringify(value)) };
}

/** @param {number} value Below 2^53. */
function varint(value) {
  const bytes = [];
  for (; value > 0x7f; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return Buffer.from([...bytes, value]);
}

/** Zero is not written. @param {number} number @param {number} value */
function numberField(number, value) {
  return value === 0 ? Buffer.alloc(0) : Buffer.concat([varint(number << 3), varint(value)]);
}

/** @param {number} number @param {Buffer} bytes */
function bytesField(number, bytes) {
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

/** @param {number} number @param {string} text */
function textField(number, text) {
  return bytesField(number, Buffer.from(text));
}
