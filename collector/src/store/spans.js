/** Requests of OTLP in protocol buffers cut into spans, and put together of some, with every byte as it came. */
import { BYTES, bytesField, fields } from "../enrichment/sampling/proto-wire.js";

/** @typedef {import("../enrichment/sampling/proto-wire.js").Range} Range */
/** A message without the repeated field that was cut out of it. @typedef {{ rest: Buffer }} Around */
/**
 * A span with the messages around it, in which spans that came together are together again.
 *
 * @typedef {object} Span
 * @property {unknown} key The same for the same span.
 * @property {Buffer} bytes A copy.
 * @property {Around} scope
 * @property {Around} resource
 */

/** Numbers of fields (opentelemetry-proto, trace/v1/trace.proto). */
const RESOURCE_SPANS = 1;
const SCOPE_SPANS = 2;
const SPANS = 2;
const TRACE_ID = 1;
const SPAN_ID = 2;

/**
 * @param {Buffer} body
 * @param {Set<string>} traces The ids of those that are wanted, in latin1.
 * @returns {Generator<Span>}
 */
export function* spansOf(body, traces) {
  for (const resourceSpans of parted(body, { from: 0, end: body.length }, RESOURCE_SPANS).messages) {
    const resource = parted(body, resourceSpans, SCOPE_SPANS);
    for (const scopeSpans of resource.messages) {
      const scope = parted(body, scopeSpans, SPANS);
      for (const span of scope.messages) {
        const { trace, id } = identity(body, span);
        if (!traces.has(trace)) continue;
        // One without an id is like no other.
        const key = id === "" ? Symbol("span") : `${trace} ${id}`;
        yield { key, bytes: Buffer.from(body.subarray(span.from, span.end)), scope, resource };
      }
    }
  }
}

/** The messages of one repeated field, and a copy of all else. @param {Buffer} body @param {Range} message @param {number} number */
function parted(body, message, number) {
  const found = [...fields(body, message)];
  const isPart = (/** @type {{ number: number, type: number }} */ field) => field.number === number && field.type === BYTES;
  return { messages: found.filter(isPart), rest: Buffer.concat(found.filter((field) => !isPart(field)).map(({ start, end }) => body.subarray(start, end))) };
}

/** @param {Buffer} body @param {Range} span */
function identity(body, span) {
  const found = { trace: "", id: "" };
  for (const { number, type, from, end } of fields(body, span)) {
    if (type !== BYTES) continue;
    if (number === TRACE_ID) found.trace = body.toString("latin1", from, end);
    if (number === SPAN_ID) found.id = body.toString("latin1", from, end);
  }
  return found;
}

/** A request of these spans. @param {Span[]} spans @returns {Buffer} */
export function joined(spans) {
  return Buffer.concat(together(spans, "resource").flatMap((inResource) => {
    const scopes = together(inResource, "scope").flatMap((inScope) => {
      const messages = inScope.flatMap(({ bytes }) => bytesField(SPANS, bytes));
      return bytesField(SCOPE_SPANS, Buffer.concat([inScope[0].scope.rest, ...messages]));
    });
    return bytesField(RESOURCE_SPANS, Buffer.concat([inResource[0].resource.rest, ...scopes]));
  }));
}

/** Spans that follow one another and have the same around them. @param {Span[]} spans @param {"scope" | "resource"} what */
function together(spans, what) {
  /** @type {Span[][]} */
  const groups = [];
  for (const span of spans) {
    const last = groups[groups.length - 1];
    if (last && last[0][what] === span[what]) last.push(span);
    else groups.push([span]);
  }
  return groups;
}
