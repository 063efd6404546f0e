/** A span of OpenTelemetry's SDK as a part of an OTLP request, and what was written into that put back into a copy of the span. */
import { withTexts } from "../record.js";
import { Message, VALUE } from "./opentelemetry-wire.js";
import { BYTES, doubleOf, fields, varintOf } from "./wire.js";

/**
 * What is read of a span of `@opentelemetry/sdk-trace-base` 2.x or `@opentelemetry/sdk-trace` 3.x. Everything else that it has, its copy
 * has too.
 *
 * @typedef {object} SpanLike
 * @property {object} attributes
 * @property {readonly { readonly attributes?: object }[]} events
 * @property {{ readonly attributes: object }} resource
 */

/** Numbers of fields. */
const RESOURCE_SPANS = 1;
const RESOURCE = { message: 1, attributes: 1 };
const SCOPE_SPANS = 2;
const SPAN = { message: 2, attributes: 9, events: 11 };
const EVENT_ATTRIBUTES = 3;

/** Where the only span of a part is. */
const WAY = [RESOURCE_SPANS, SCOPE_SPANS, SPAN.message];

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** The message of what spans ran on, which may name the model. @param {SpanLike["resource"]} resource */
export function resourceMessage({ attributes }) {
  const message = new Message();
  message.attributes(RESOURCE.attributes, attributes);
  return message.bytes();
}

/** Whether a span has anything in which ids could be. @param {SpanLike} span */
export function hasAttributes({ attributes, events }) {
  return !isEmpty(attributes) || events.some((event) => !isEmpty(event.attributes ?? {}));
}

/** @param {object} attributes */
function isEmpty(attributes) {
  return Object.keys(attributes).length === 0;
}

/**
 * What layouts look at: attributes of the span, of its events and of what it ran on. It is a request, and so is one part after the other.
 *
 * @param {SpanLike} span
 * @param {Uint8Array} resource Its message.
 */
export function requestPart({ attributes, events }, resource) {
  const message = new Message();
  message.message(RESOURCE_SPANS, () => {
    message.message(RESOURCE.message, () => message.raw(resource));
    message.message(SCOPE_SPANS, () => message.message(SPAN.message, () => {
      message.attributes(SPAN.attributes, attributes);
      for (const event of events) message.message(SPAN.events, () => message.attributes(EVENT_ATTRIBUTES, event.attributes ?? {}));
    }));
  });
  return message.bytes();
}

/** The parts of a request. @param {Uint8Array} request */
export function partsOf(request) {
  return Array.from(fields(request), ({ whole }) => whole);
}

/**
 * A copy of a span with what was written into its part; itself if nothing was. What was not written is the span's own, also what
 * the part cannot say.
 *
 * @template {SpanLike} Span
 * @param {Span} span
 * @param {Uint8Array} part
 * @param {Uint8Array} enriched
 * @returns {Span}
 */
export function withWritten(span, part, enriched) {
  if (isSame(part, enriched)) return span;
  const [before, after] = [part, enriched].map((bytes) => WAY.reduce((message, number) => messages(message, number)[0], bytes));
  const [eventsBefore, eventsAfter] = [before, after].map((message) => messages(message, SPAN.events));
  /** @type {PropertyDescriptorMap} */
  const own = { attributes: { value: written(span.attributes, before, after, SPAN.attributes), enumerable: true } };
  const events = span.events.map((event, at) => {
    if (isSame(eventsBefore[at], eventsAfter[at])) return event;
    return { ...event, attributes: written(event.attributes ?? {}, eventsBefore[at], eventsAfter[at], EVENT_ATTRIBUTES) };
  });
  if (events.some((event, at) => event !== span.events[at])) own.events = { value: events, enumerable: true };
  // Also for exporters that take a span apart, as `{ ...span }` does.
  return Object.create(Object.getPrototypeOf(span), { ...Object.getOwnPropertyDescriptors(span), ...own });
}

/**
 * Attributes after something was written, in their new order.
 *
 * @param {object} given
 * @param {Uint8Array} before The message that they are in.
 * @param {Uint8Array} after
 * @param {number} number
 */
function written(given, before, after, number) {
  const known = new Map(pairs(before, number));
  return Object.fromEntries(pairs(after, number).map(([key, value]) => {
    const own = /** @type {Record<string, unknown>} */ (given)[key];
    const old = known.get(key);
    return [key, old && isSame(old, value) ? own : withTexts(own, valueOf(value))];
  }));
}

/** Keys, and the messages of their values. @param {Uint8Array} message @param {number} number @returns {[string, Uint8Array][]} */
function pairs(message, number) {
  return messages(message, number).map((pair) => {
    const [key, value] = Array.from(fields(pair), ({ bytes }) => bytes);
    return [utf8.decode(key), value];
  });
}

/** The value of an `AnyValue`. @param {Uint8Array} message @returns {unknown} */
function valueOf(message) {
  const [field] = fields(message);
  if (!field) return null;
  const { number, bytes } = field;
  if (number === VALUE.string) return utf8.decode(bytes);
  if (number === VALUE.bool) return varintOf(field) !== 0n;
  if (number === VALUE.int) return Number(BigInt.asIntN(64, varintOf(field)));
  if (number === VALUE.double) return doubleOf(field);
  if (number === VALUE.array) return messages(bytes, 1).map(valueOf);
  if (number === VALUE.object) return Object.fromEntries(pairs(bytes, 1).map(([key, value]) => [key, valueOf(value)]));
  return bytes;
}

/** @param {Uint8Array} message @param {number} number */
function messages(message, number) {
  const found = [];
  for (const field of fields(message)) if (field.number === number && field.type === BYTES) found.push(field.bytes);
  return found;
}

/** @param {Uint8Array} one @param {Uint8Array} other */
function isSame(one, other) {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}
