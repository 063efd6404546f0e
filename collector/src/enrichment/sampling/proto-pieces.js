/** The spans of an `ExportTraceServiceRequest` as they are on the wire. */
import { BYTES, VARINT, bytesField, fields, int64Of } from "./proto-wire.js";
import { isOfSample, mayNameSamples, note, sampleOf } from "./trajectory.js";

/** @typedef {import("./proto-wire.js").Field} Field */
/** @typedef {import("./proto-wire.js").Range} Range */

/** The fields that lead from a request to its spans. */
const LEVELS = [1, 2, 2];
const SPAN = { traceId: 1, spanId: 2, attributes: 9 };
/** How the key of a span is spelled, and keys of the same length that `ScopeSpans` does not have. */
const SPAN_KEY = 0x12;
const FREE_KEYS = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4].map((number) => number * 8 + BYTES);

/** @param {Buffer} body @returns {import("./pieces.js").CutBody} */
export function protoBody(body) {
  const whole = { from: 0, end: body.length };
  const spans = [...below(body, whole, 3)];
  const namesSamples = mayNameSamples(body);
  return {
    pieces: spans.map((span) => pieceOf(body, span, namesSamples)),
    select(isKept) {
      let index = 0;
      return rebuilt(body, whole, LEVELS, () => isKept(index++));
    },
    hide: (isKept) => hidden(body, spans, isKept),
  };
}

/** What is so many levels below a message. @param {Buffer} body @param {Range} message @param {number} depth @returns {Generator<Field>} */
function* below(body, message, depth, [number, ...deeper] = LEVELS) {
  for (const field of fields(body, message)) {
    if (field.number !== number || field.type !== BYTES) continue;
    if (depth === 1) yield field;
    else yield* below(body, field, depth - 1, deeper);
  }
}

/** @param {Buffer} body @param {Field} span @param {boolean} namesSamples @returns {import("./pieces.js").Piece} */
function pieceOf(body, span, namesSamples) {
  /** @type {import("./pieces.js").Piece} */
  const piece = { samples: [] };
  /** @type {import("./trajectory.js").Known} */
  const known = {};
  for (const { number, type, from, end } of fields(body, span)) {
    if (type !== BYTES) continue;
    if (number === SPAN.traceId) piece.traceId = body.toString("hex", from, end);
    if (number === SPAN.spanId) piece.id = body.toString("hex", from, end);
    if (number === SPAN.attributes && namesSamples) noteAttribute(body, { from, end }, known);
  }
  const sample = sampleOf(known);
  return sample ? { ...piece, samples: [sample] } : piece;
}

/** @param {Buffer} body @param {Range} attribute A `KeyValue`: 1 is the key, 2 the value. @param {import("./trajectory.js").Known} known */
function noteAttribute(body, attribute, known) {
  let key = "";
  for (const { number, from, end } of fields(body, attribute)) {
    if (number === 1) key = body.toString("utf8", from, end);
    if (number !== 2 || !isOfSample(key)) continue;
    // A string, a truth value or a whole number.
    for (const value of fields(body, { from, end })) {
      if (value.type === BYTES) note(known, key, body.toString("utf8", value.from, value.end));
      if (value.type === VARINT) note(known, key, int64Of(body, value));
    }
  }
}

/**
 * A message without the spans that are not kept; all else keeps its bytes, but for lengths around what is gone.
 *
 * @param {Buffer} body
 * @param {Range} message
 * @param {number[]} levels Those below it.
 * @param {() => boolean} isNextKept
 * @returns {Buffer}
 */
function rebuilt(body, message, [number, ...deeper], isNextKept) {
  const parts = [];
  for (const field of fields(body, message)) {
    const whole = body.subarray(field.start, field.end);
    if (field.number !== number || field.type !== BYTES) parts.push(whole);
    else if (deeper.length === 0) parts.push(...(isNextKept() ? [whole] : []));
    else {
      const value = rebuilt(body, field, deeper, isNextKept);
      parts.push(...(value.length === field.end - field.from ? [whole] : bytesField(number, value)));
    }
  }
  return Buffer.concat(parts);
}

/**
 * Spans that are not kept become a field that nobody knows, for a while: by its key, of the same length.
 *
 * @param {Buffer} body
 * @param {Field[]} spans
 * @param {(index: number) => boolean} isKept
 * @returns {import("./pieces.js").Hidden | undefined}
 */
function hidden(body, spans, isKept) {
  const used = new Set();
  for (const scope of below(body, { from: 0, end: body.length }, 2)) {
    for (const { start } of fields(body, scope)) used.add(body[start]);
  }
  const key = FREE_KEYS.find((free) => !used.has(free));
  // One that is spelled longer than it need be stays.
  if (key === undefined || spans.some(({ start }) => body[start] !== SPAN_KEY)) return undefined;
  const copy = Buffer.from(body);
  for (const [i, { start }] of spans.entries()) if (!isKept(i)) copy[start] = key;
  return { body: copy, standIns: 0, show: (enriched) => showAgain(enriched, key) };
}

/** @param {Buffer} body @param {number} key */
function showAgain(body, key) {
  for (const scope of below(body, { from: 0, end: body.length }, 2)) {
    for (const { start } of fields(body, scope)) if (body[start] === key) body[start] = SPAN_KEY;
  }
}
