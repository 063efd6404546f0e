/** What spans ran on, with what a backend wants to know of it. */
import { BYTES, bytesField, concat, fields, textField } from "./wire.js";

/** @typedef {import("./otlp-request.js").WireSpan} WireSpan */
/** @typedef {import("./otlp-request.js").Wrapper} Wrapper */

/** Numbers of fields: of the message around spans, of what they ran on, and of a pair. */
const RESOURCE = 1;
const ATTRIBUTES = 1;
const PAIR = { key: 1, value: 2 };
const STRING = 1;

/**
 * The spans, with attributes of what they ran on where that has none of the name.
 *
 * @param {readonly WireSpan[]} spans
 * @param {Record<string, string>} attributes
 * @returns {WireSpan[]}
 */
export function withResource(spans, attributes) {
  /** Many spans share one. @type {Map<Wrapper, Wrapper>} */
  const known = new Map();
  return spans.map((span) => {
    const resource = known.get(span.resource) ?? { rest: withAttributes(span.resource.rest, attributes) };
    known.set(span.resource, resource);
    return { ...span, resource };
  });
}

/** @param {Uint8Array} rest The fields around spans. @param {Record<string, string>} attributes */
function withAttributes(rest, attributes) {
  const around = [...fields(rest)];
  const place = around.findLastIndex(({ number, type }) => number === RESOURCE && type === BYTES);
  const resource = around[place]?.bytes ?? new Uint8Array();
  const names = new Set(Array.from(fields(resource), keyOf));
  const added = Object.entries(attributes).filter(([key]) => !names.has(key)).map(([key, value]) => {
    return bytesField(ATTRIBUTES, [textField(PAIR.key, key), bytesField(PAIR.value, textField(STRING, value))]);
  });
  const made = bytesField(RESOURCE, [resource, ...added]);
  const parts = around.map(({ whole }, i) => (i === place ? made : whole));
  return concat(place < 0 ? [made, ...parts] : parts);
}

/** The key of an attribute. @param {import("./wire.js").Field} field */
function keyOf({ number, type, bytes }) {
  if (number !== ATTRIBUTES || type !== BYTES) return undefined;
  const key = Array.from(fields(bytes)).find((part) => part.number === PAIR.key);
  return key && new TextDecoder().decode(key.bytes);
}
