/** What a server of OTLP answers, in either encoding. */
import { BYTES, VARINT, fields, varintOf } from "./wire.js";

/** Fields of `ExportTraceServiceResponse`, `ExportTracePartialSuccess` and `google.rpc.Status`. */
const PARTIAL_SUCCESS = 1;
const REJECTED_SPANS = 1;
const ERROR_MESSAGE = 2;
const STATUS_MESSAGE = 2;

/**
 * What became of some spans, or a warning. An answer that cannot be read is a success: its status said so.
 *
 * @param {Uint8Array} answer
 * @param {Headers} headers
 * @returns {{ rejectedSpans: number, message: string }}
 */
export function partialSuccess(answer, headers) {
  try {
    return isJson(headers) ? inJson(answer) : inProtobuf(answer);
  } catch {
    return { rejectedSpans: 0, message: "" };
  }
}

/** @param {Uint8Array} answer */
function inJson(answer) {
  const { partialSuccess } = JSON.parse(new TextDecoder().decode(answer));
  return { rejectedSpans: Number(partialSuccess?.rejectedSpans ?? 0) || 0, message: String(partialSuccess?.errorMessage ?? "") };
}

/** @param {Uint8Array} answer */
function inProtobuf(answer) {
  const found = { rejectedSpans: 0, message: "" };
  for (const partial of fields(answer)) {
    if (partial.number !== PARTIAL_SUCCESS || partial.type !== BYTES) continue;
    for (const field of fields(partial.bytes)) {
      if (field.number === REJECTED_SPANS && field.type === VARINT) found.rejectedSpans = Number(varintOf(field));
      if (field.number === ERROR_MESSAGE && field.type === BYTES) found.message = new TextDecoder().decode(field.bytes);
    }
  }
  return found;
}

/**
 * The words of an error in protocol buffers; those in JSON are found where every server has them.
 *
 * @param {Uint8Array} answer
 * @param {Headers} headers
 * @returns {string | undefined}
 */
export function statusMessage(answer, headers) {
  if (!String(headers.get("content-type")).startsWith("application/x-protobuf")) return undefined;
  try {
    const message = [...fields(answer)].find(({ number, type }) => number === STATUS_MESSAGE && type === BYTES);
    return message && new TextDecoder().decode(message.bytes);
  } catch {
    return undefined;
  }
}

/** @param {Headers} headers */
function isJson(headers) {
  return String(headers.get("content-type")).startsWith("application/json");
}
