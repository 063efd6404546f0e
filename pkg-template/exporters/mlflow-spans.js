/**
 * The two forms of a span at MLflow: what its server gives out and keeps in `traces.json` (attributes are JSON in strings,
 * ids are base64), and the message of OTLP that its server takes.
 */
import { Numeral, elements, members, parseExact, stringifyExact, tryParseExact } from "./exact-json.js";
import { toBase64 } from "./authorization.js";
import { toHex } from "./otlp-request.js";
import { BYTES, FIXED64, VARINT, bytesField, doubleField, doubleOf, fields, fixed64Field, fixed64Of, textField, varintField, varintOf } from "./wire.js";

/** @typedef {import("./exact-json.js").Exact} Exact */
/** @typedef {import("./exact-json.js").ExactObject} ExactObject */
/** @typedef {import("./wire.js").Field} Field */

/** Numbers of the fields of OTLP's messages. */
const SPAN = { traceId: 1, spanId: 2, parentId: 4, name: 5, start: 7, end: 8, attributes: 9, events: 11, links: 13, status: 15 };
const EVENT = { time: 1, name: 2, attributes: 3 };
const LINK = { traceId: 1, spanId: 2, attributes: 4 };
const STATUS = { message: 2, code: 3 };
const VALUE = { string: 1, bool: 2, int: 3, double: 4, array: 5, object: 6, bytes: 7 };
const STATUS_CODES = ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];

/** The stored spans of a trace. @param {Uint8Array} body What get-trace-artifact gives. */
export function storedSpans(body) {
  return elements(members(parseExact(new TextDecoder().decode(body))).get("spans")).map(members);
}

/** A stored span that no message of OTLP can say. */
export class Unsendable extends Error {}

/**
 * The message whose storing gives the same span again. The server reads an attribute that begins like a JSON string, array
 * or object as JSON, and keeps its text.
 *
 * @param {ExactObject} span
 * @returns {Uint8Array[]} The fields of the message.
 * @throws {Unsendable}
 */
export function toOtlp(span) {
  const attributes = [...members(span.get("attributes"))].map(([key, value]) => {
    return bytesField(SPAN.attributes, keyValue(key, storedAttribute(key, value)));
  });
  const events = elements(span.get("events")).map(members).map((event) => {
    const time = fixed64Field(EVENT.time, nanos(event.get("time_unix_nano")));
    return bytesField(SPAN.events, [time, textField(EVENT.name, text(event.get("name"))), ...plainAttributes(EVENT.attributes, event)]);
  });
  const links = elements(span.get("links")).map(members).map((link) => {
    const ids = [bytesField(LINK.traceId, idBytes(link.get("trace_id"), 16)), bytesField(LINK.spanId, idBytes(link.get("span_id"), 8))];
    return bytesField(SPAN.links, [...ids, ...plainAttributes(LINK.attributes, link)]);
  });
  return [
    bytesField(SPAN.traceId, idBytes(span.get("trace_id"), 16)),
    bytesField(SPAN.spanId, idBytes(span.get("span_id"), 8)),
    ...(span.get("parent_span_id") ? [bytesField(SPAN.parentId, idBytes(span.get("parent_span_id"), 8))] : []),
    textField(SPAN.name, text(span.get("name"))),
    fixed64Field(SPAN.start, nanos(span.get("start_time_unix_nano"))),
    fixed64Field(SPAN.end, nanos(span.get("end_time_unix_nano"))),
    ...attributes,
    ...events,
    ...links,
    bytesField(SPAN.status, status(members(span.get("status")))),
  ];
}

/** @param {string} name @param {Exact} value */
function storedAttribute(name, value) {
  if (typeof value !== "string") return anyValue(value);
  if (/^["[{]/.test(value)) return textField(VALUE.string, value);
  const parsed = tryParseExact(value);
  if (parsed === undefined) throw new Unsendable(`the attribute ${name} is not JSON`);
  const sent = anyValue(parsed);
  if (parsed instanceof Numeral && !isCanonical(parsed)) throw new Unsendable(`the number of the attribute ${name} would change`);
  return sent;
}

/** Whether Python writes the number in this very way. @param {Numeral} number */
function isCanonical({ text, isInteger }) {
  if (isInteger) return BigInt.asIntN(64, BigInt(text)) === BigInt(text) && BigInt(text).toString() === text;
  return doubleText(Number(text)) === text;
}

/** A double as Python writes it. @param {number} value */
export function doubleText(value) {
  if (!Number.isFinite(value)) return String(value);
  const shortest = Object.is(value, -0) ? "-0" : String(value);
  const [, sign, digits, , exponent] = /** @type {RegExpExecArray} */ (/^(-?)([\d.]+)(e([+-]\d+))?$/.exec(shortest));
  const [whole, fraction = ""] = digits.split(".");
  const significant = (whole + fraction).replace(/^0+/, "").replace(/0+$/, "") || "0";
  // The power of ten of the first digit; Python changes to exponents at 16 digits and below 0.0001, JavaScript later.
  const leading = whole.replace(/^0+/, "") === "" ? -1 - /** @type {RegExpExecArray} */ (/^0*/.exec(fraction))[0].length : whole.length - 1;
  const power = significant === "0" ? 0 : leading + Number(exponent ?? 0);
  if (power >= 16 || power < -4) {
    const mantissa = significant.length > 1 ? `${significant[0]}.${significant.slice(1)}` : significant;
    return `${sign}${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return exponent === undefined ? (shortest.includes(".") ? shortest : `${shortest}.0`) : `${sign}0.${"0".repeat(-power - 1)}${significant}`;
}

/** @param {number} number @param {ExactObject} holder */
function plainAttributes(number, holder) {
  return [...members(holder.get("attributes"))].map(([key, value]) => bytesField(number, keyValue(key, anyValue(value))));
}

/** @param {string} key @param {Uint8Array} value */
function keyValue(key, value) {
  return [textField(1, key), bytesField(2, value)];
}

/** The message of a value. @param {Exact} value @returns {Uint8Array} */
function anyValue(value) {
  if (value === null) return new Uint8Array();
  if (typeof value === "string") return textField(VALUE.string, value);
  if (typeof value === "boolean") return varintField(VALUE.bool, value ? 1n : 0n);
  if (value instanceof Numeral) return numberValue(value);
  if (Array.isArray(value)) return bytesField(VALUE.array, value.map((item) => bytesField(1, anyValue(item))));
  return bytesField(VALUE.object, [...value].map(([key, item]) => bytesField(1, keyValue(key, anyValue(item)))));
}

/** @param {Numeral} number */
function numberValue({ text, isInteger }) {
  if (!isInteger) return doubleField(VALUE.double, Number(text));
  const value = BigInt(text);
  if (BigInt.asIntN(64, value) !== value) throw new Unsendable(`${text} has more than 64 bits`);
  return varintField(VALUE.int, value);
}

/** @param {ExactObject} status */
function status(status) {
  const code = STATUS_CODES.indexOf(text(status.get("code")));
  const fields = [varintField(STATUS.code, BigInt(Math.max(0, code)))];
  return status.get("message") ? [textField(STATUS.message, text(status.get("message"))), ...fields] : fields;
}

/** @param {Exact | undefined} value */
function text(value) {
  return typeof value === "string" ? value : "";
}

/** @param {Exact | undefined} value */
function nanos(value) {
  if (value === null || value === undefined) return 0n;
  if (value instanceof Numeral && value.isInteger) return BigInt(value.text);
  throw new Unsendable("a time is no whole number");
}

/** Of base64, of hexadecimal digits as old servers wrote, or of a trace id of MLflow. @param {Exact | undefined} id @param {number} length */
function idBytes(id, length) {
  const spelled = text(id).replace(/^tr-/, "");
  const isHex = spelled.length === 2 * length && /^[\da-f]+$/i.test(spelled);
  const bytes = isHex ? Uint8Array.from(spelled.match(/../g) ?? [], (pair) => parseInt(pair, 16)) : fromBase64(spelled);
  if (bytes?.length !== length) throw new Unsendable(`\`${spelled}\` is no id of ${length} bytes`);
  return bytes;
}

/** @param {string} base64 */
function fromBase64(base64) {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The hexadecimal id of the trace that a stored span says it belongs to, or undefined. @param {ExactObject} span */
export function traceIdOf(span) {
  try {
    return toHex(idBytes(span.get("trace_id"), 16));
  } catch {
    return undefined;
  }
}

/** The hexadecimal id of a stored span. @param {ExactObject} span */
export function spanIdOf(span) {
  return toHex(idBytes(span.get("span_id"), 8));
}

/** What the server would keep of a message of OTLP. @param {Uint8Array} message @returns {ExactObject} */
export function toStored(message) {
  const found = byNumber(message);
  /** @param {number} number */
  const id = (number) => (found(number)[0]?.bytes.length ? toBase64(found(number)[0].bytes) : null);
  const traceId = `tr-${toHex(found(SPAN.traceId)[0]?.bytes ?? new Uint8Array())}`;
  const [statusField] = found(SPAN.status);
  const statusOf = byNumber(statusField?.bytes ?? new Uint8Array());
  /** @type {ExactObject} */
  const attributes = new Map(attributesOf(found(SPAN.attributes)).map(([key, value]) => [key, stored(value)]));
  attributes.set("mlflow.traceRequestId", JSON.stringify(traceId));
  return new Map(/** @type {[string, Exact][]} */ ([
    ["trace_id", id(SPAN.traceId)],
    ["span_id", id(SPAN.spanId)],
    ["parent_span_id", id(SPAN.parentId)],
    ["name", decoded(found(SPAN.name)[0])],
    ["start_time_unix_nano", time(found(SPAN.start)[0])],
    ["end_time_unix_nano", time(found(SPAN.end)[0])],
    ["events", found(SPAN.events).map(({ bytes }) => {
      const event = byNumber(bytes);
      const attributes = new Map(attributesOf(event(EVENT.attributes)));
      return new Map(/** @type {[string, Exact][]} */ ([["name", decoded(event(EVENT.name)[0])], ["time_unix_nano", time(event(EVENT.time)[0])], ["attributes", attributes]]));
    })],
    ["status", new Map([
      ["code", STATUS_CODES[Number(statusOf(STATUS.code)[0] ? varintOf(statusOf(STATUS.code)[0]) : 0n)] ?? STATUS_CODES[0]],
      ["message", decoded(statusOf(STATUS.message)[0])],
    ])],
    ["attributes", attributes],
    ["links", found(SPAN.links).map(({ bytes }) => {
      const link = byNumber(bytes);
      const hex = (/** @type {number} */ number) => toHex(link(number)[0]?.bytes ?? new Uint8Array());
      return new Map(/** @type {[string, Exact][]} */ ([
        ["trace_id", `tr-${hex(LINK.traceId)}`],
        ["span_id", hex(LINK.spanId)],
        ["attributes", new Map(attributesOf(link(LINK.attributes)))],
      ]));
    })],
  ]));
}

/** The attributes with these names of a message of OTLP. @param {Uint8Array} message @param {readonly string[]} names */
export function readAttributes(message, names) {
  return attributesWhere(message, (name) => names.includes(name));
}

/** Those whose names are wanted. @param {Uint8Array} message @param {(name: string) => boolean} isWanted */
export function attributesWhere(message, isWanted) {
  const keyValues = byNumber(message)(SPAN.attributes).filter(({ bytes }) => isWanted(decoded(byNumber(bytes)(1)[0])));
  return new Map(attributesOf(keyValues));
}

/** @param {Uint8Array} message @returns {(number: number) => Field[]} */
function byNumber(message) {
  const all = [...fields(message)];
  return (number) => all.filter((field) => field.number === number);
}

/** @param {Field} [field] */
function decoded(field) {
  return field ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(field.bytes) : "";
}

/** @param {Field} [field] */
function time(field) {
  return new Numeral(field?.type === FIXED64 ? fixed64Of(field).toString() : "0");
}

/** @param {Field[]} keyValues @returns {[string, Exact][]} */
function attributesOf(keyValues) {
  return keyValues.map(({ bytes }) => {
    const [key, value] = [1, 2].map((number) => byNumber(bytes)(number)[0]);
    return [decoded(key), value ? exactOf(value.bytes) : null];
  });
}

/** @param {Uint8Array} anyValue @returns {Exact} */
function exactOf(anyValue) {
  const field = [...fields(anyValue)].at(-1);
  if (!field) return null;
  const { number, type, bytes } = field;
  if (number === VALUE.string) return decoded(field);
  if (number === VALUE.bool && type === VARINT) return varintOf(field) !== 0n;
  if (number === VALUE.int && type === VARINT) return new Numeral(BigInt.asIntN(64, varintOf(field)).toString());
  if (number === VALUE.double && type === FIXED64) return new Numeral(doubleText(doubleOf(field)));
  if (number === VALUE.array && type === BYTES) return byNumber(bytes)(1).map((item) => exactOf(item.bytes));
  if (number === VALUE.object) return new Map(attributesOf(byNumber(bytes)(1)));
  return toBase64(bytes);
}

/** An attribute as the server stores it: JSON in a string. @param {Exact} value */
function stored(value) {
  const isJson = typeof value === "string" && /^["[{]/.test(value) && tryParseExact(value) !== undefined;
  return isJson ? value : stringifyExact(value);
}
