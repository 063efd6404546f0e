/** What there is to know of a body before it is stored: how many spans it has, and of which traces. */
import { BYTES, fields } from "../enrichment/sampling/proto-wire.js";
import { JSON_TYPE, PROTOBUF } from "../receive/answers.js";
import { Refusal } from "../receive/refusal.js";
import { countSpans, member, spansInJson } from "../receive/span-count.js";

/** Numbers of fields (opentelemetry-proto, trace/v1/trace.proto). */
const RESOURCE_SPANS = 1;
const SCOPE_SPANS = 2;
const SPANS = 2;
const TRACE_ID = 1;

/**
 * @param {Buffer} body
 * @param {string} contentType
 * @returns {{ spans: number, traces: Buffer[] }} Each trace once, by its id.
 * @throws {Refusal} 400: it is no request of OTLP.
 */
export function contentsOf(body, contentType) {
  const ids = contentType === JSON_TYPE ? spansInJson(body).map((span) => traceIdBytes(String(member(span, "traceId") ?? ""))) : traceIdsIn(body);
  const traces = new Map(ids.map((id) => [id.toString("latin1"), id]));
  return { spans: ids.length, traces: [...traces.values()] };
}

/** A trace id as it is stored: the bytes that its digits are; of what is not hexadecimal, as OTLP has it, the text. @param {string} text */
export function traceIdBytes(text) {
  return /^(?:[\da-f]{2})*$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text);
}

/** @param {Buffer} body */
function traceIdsIn(body) {
  // It knows where the damage is.
  countSpans(body, PROTOBUF);
  try {
    return spansIn(body).map((span) => {
      const ids = [...fields(body, span)].filter(({ number, type }) => number === TRACE_ID && type === BYTES);
      const { from, end } = ids[ids.length - 1] ?? { from: 0, end: 0 };
      return body.subarray(from, end);
    });
  } catch {
    throw new Refusal(400, "the body is not OTLP as protocol buffers: damaged in a span, or around spans");
  }
}

/** Where the spans of a request are. @param {Buffer} body */
function spansIn(body) {
  const within = (/** @type {number} */ number) => (/** @type {import("../enrichment/sampling/proto-wire.js").Range} */ message) =>
    [...fields(body, message)].filter((field) => field.number === number && field.type === BYTES);
  return within(RESOURCE_SPANS)({ from: 0, end: body.length }).flatMap(within(SCOPE_SPANS)).flatMap(within(SPANS));
}
