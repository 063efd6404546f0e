/** What a receiver of OTLP answers, in the encoding of the request. */
import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** How many spans were not stored, and what there is to say. @typedef {{ rejectedSpans: number, message: string }} PartialSuccess */
/** @typedef {{ type: string, body: Buffer }} Answer */

export const PROTOBUF = "application/x-protobuf";
export const JSON_TYPE = "application/json";

/** Codes of google.rpc for statuses of HTTP (google/rpc/code.proto). @type {Record<number, number>} */
const CODES = { 400: 3, 401: 16, 403: 7, 404: 5, 405: 12, 413: 8, 415: 3, 429: 8, 503: 14 };
const INTERNAL = 13;

/** What stands before fields of protocol buffers: the number and the type on the wire. */
const PARTIAL_SUCCESS = (1 << 3) | 2;
const NUMBER_1 = 1 << 3;
const TEXT_2 = (2 << 3) | 2;

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
  return inProtobuf((writer) => {
    if (!partial) return;
    writer.uint32(PARTIAL_SUCCESS).fork();
    if (partial.rejectedSpans > 0) writer.uint32(NUMBER_1).int64(partial.rejectedSpans);
    writer.uint32(TEXT_2).string(partial.message).join();
  });
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
  return type === PROTOBUF ? inProtobuf((writer) => writer.uint32(NUMBER_1).int32(code).uint32(TEXT_2).string(message)) : inJson({ code, message });
}

/** @param {object} value @returns {Answer} */
function inJson(value) {
  return { type: JSON_TYPE, body: Buffer.from(JSON.stringify(value)) };
}

/** @param {(writer: BinaryWriter) => void} write @returns {Answer} */
function inProtobuf(write) {
  const writer = new BinaryWriter();
  write(writer);
  return { type: PROTOBUF, body: Buffer.from(writer.finish()) };
}
