/** What there is to know of a body before it is stored: how many spans it has, and of which traces. */
import { BYTES, Fields } from "../enrichment/sampling/proto-wire.js";
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
  return contentType === JSON_TYPE ? contentsOfJson(body) : contentsOfMessage(body);
}

/** @param {Buffer} body */
function contentsOfJson(body) {
  const ids = spansInJson(body).map((span) => traceIdBytes(String(member(span, "traceId") ?? "")));
  const traces = new Map(ids.map((id) => [id.toString("latin1"), id]));
  return { spans: ids.length, traces: [...traces.values()] };
}

/** A trace id as it is stored: the bytes that its digits are; of what is not hexadecimal, as OTLP has it, the text. @param {string} text */
export function traceIdBytes(text) {
  return /^(?:[\da-f]{2})*$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text);
}

/** @param {Buffer} body */
function contentsOfMessage(body) {
  // It knows where the damage is.
  countSpans(body, PROTOBUF);
  /** @type {Map<string, Buffer>} */
  const traces = new Map();
  let spans = 0;
  let last;
  try {
    for (const resource = new Fields(body, { from: 0, end: body.length }); toNext(resource, RESOURCE_SPANS); ) {
      for (const scope = new Fields(body, resource); toNext(scope, SCOPE_SPANS); ) {
        for (const span = new Fields(body, scope); toNext(span, SPANS); spans++) {
          const id = traceIdIn(body, span);
          // Spans of a trace mostly follow one another.
          if (last?.equals(id)) continue;
          last = id;
          traces.set(id.toString("latin1"), id);
        }
      }
    }
  } catch {
    throw new Refusal(400, "the body is not OTLP as protocol buffers: damaged in a span, or around spans");
  }
  return { spans, traces: [...traces.values()] };
}

/** Goes to the next field of that number. @param {Fields} message @param {number} number */
function toNext(message, number) {
  while (message.next()) if (message.number === number && message.type === BYTES) return true;
  return false;
}

/** @param {Buffer} body @param {Fields} span */
function traceIdIn(body, span) {
  let id = body.subarray(0, 0);
  // The last one counts, as to every reader of protocol buffers.
  for (const field = new Fields(body, span); toNext(field, TRACE_ID); ) id = body.subarray(field.from, field.end);
  return id;
}
