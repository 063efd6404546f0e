/**
 * OTLP requests in JSON as protocol buffers, for servers that take nothing else. Fields that this version does not know are left out,
 * as OTLP wants; everything else is kept, numbers of 64 bits too.
 */
import { Token2TextError } from "../errors.js";
import { Numeral, parseExact } from "./exact-json.js";
import { bytesField, concat, doubleField, fixed32Field, fixed64Field, textField, varintField } from "./wire.js";

/** @typedef {import("./exact-json.js").Exact} Exact */
/** How a value is written; undefined: it is the default, which is not. @typedef {(number: number, value: Exact) => Uint8Array | undefined} Write */
/** @typedef {{ [name: string]: [number: number, write: Write] }} Message */

/** @param {string} what @returns {never} */
function wrong(what) {
  throw new Token2TextError("invalid_body", `the body is not OTLP in JSON: ${what}`);
}

/** A number of any size, as JSON number or as string. @param {Exact} value */
function integer(value) {
  const text = value instanceof Numeral ? value.text : value;
  if (typeof text === "string" && /^-?\d+$/.test(text)) return BigInt(text);
  const number = typeof text === "string" ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? BigInt(number) : wrong("an integer is none");
}

/** @param {Exact} value */
function string(value) {
  return typeof value === "string" ? value : wrong("a text is none");
}

/** @type {Write} */
const text = (number, value) => textField(number, string(value));
/** @type {Write} */
const varint = (number, value) => varintField(number, integer(value));
/** @type {Write} */
const fixed32 = (number, value) => fixed32Field(number, Number(integer(value)));
/** @type {Write} */
const fixed64 = (number, value) => fixed64Field(number, integer(value));
/** @type {Write} */
const bool = (number, value) => (typeof value === "boolean" ? varintField(number, value ? 1n : 0n) : wrong("a truth value is none"));
/** The names of infinite numbers are those of protocol buffers' JSON. @type {Write} */
const double = (number, value) => doubleField(number, Number(value instanceof Numeral ? value.text : string(value)));
/** @type {Write} */
const hex = (number, value) => {
  const digits = string(value);
  if (!/^(?:[\da-f]{2})*$/i.test(digits)) wrong("an id is not hexadecimal");
  return bytesField(number, Uint8Array.from(digits.match(/../g) ?? [], (byte) => parseInt(byte, 16)));
};
/** @type {Write} */
const base64 = (number, value) => {
  try {
    return bytesField(number, Uint8Array.from(atob(string(value).replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0)));
  } catch {
    return wrong("bytes are not base64");
  }
};
/** Numbers by OTLP; names too, which some libraries write. @param {string} prefix @param {string[]} names @returns {Write} */
const enumeration = (prefix, names) => (number, value) => {
  const found = typeof value === "string" ? names.indexOf(value.replace(prefix, "")) : -1;
  return varintField(number, found < 0 ? integer(value) : BigInt(found));
};
/** @param {() => Message} message A function, since messages stand in each other. @returns {Write} */
const one = (message) => (number, value) => bytesField(number, written(value, message()));
/** @param {Write} write @returns {Write} */
const many = (write) => (number, value) => {
  if (!Array.isArray(value)) wrong("a list is none");
  return concat(/** @type {Exact[]} */ (value).map((item) => write(number, item) ?? wrong("an item is null")));
};

// Messages of opentelemetry-proto 1.11, by the names of their fields in JSON.
/** @type {Message} */
const ANY_VALUE = {
  stringValue: [1, text],
  boolValue: [2, bool],
  intValue: [3, varint],
  doubleValue: [4, double],
  arrayValue: [5, one(() => ({ values: [1, many(one(() => ANY_VALUE))] }))],
  kvlistValue: [6, one(() => ({ values: [1, ATTRIBUTES] }))],
  bytesValue: [7, base64],
};
const ATTRIBUTES = many(one(() => ({ key: [1, text], value: [2, one(() => ANY_VALUE)] })));
/** @type {Message} */
const EVENT = { timeUnixNano: [1, fixed64], name: [2, text], attributes: [3, ATTRIBUTES], droppedAttributesCount: [4, varint] };
/** @type {Message} */
const LINK = {
  traceId: [1, hex],
  spanId: [2, hex],
  traceState: [3, text],
  attributes: [4, ATTRIBUTES],
  droppedAttributesCount: [5, varint],
  flags: [6, fixed32],
};
/** @type {Message} */
const STATUS = { message: [2, text], code: [3, enumeration("STATUS_CODE_", ["UNSET", "OK", "ERROR"])] };
/** @type {Message} */
const SPAN = {
  traceId: [1, hex],
  spanId: [2, hex],
  traceState: [3, text],
  parentSpanId: [4, hex],
  name: [5, text],
  kind: [6, enumeration("SPAN_KIND_", ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"])],
  startTimeUnixNano: [7, fixed64],
  endTimeUnixNano: [8, fixed64],
  attributes: [9, ATTRIBUTES],
  droppedAttributesCount: [10, varint],
  events: [11, many(one(() => EVENT))],
  droppedEventsCount: [12, varint],
  links: [13, many(one(() => LINK))],
  droppedLinksCount: [14, varint],
  status: [15, one(() => STATUS)],
  flags: [16, fixed32],
};
/** @type {Message} */
const SCOPE = { name: [1, text], version: [2, text], attributes: [3, ATTRIBUTES], droppedAttributesCount: [4, varint] };
/** @type {Message} */
const SCOPE_SPANS = { scope: [1, one(() => SCOPE)], spans: [2, many(one(() => SPAN))], schemaUrl: [3, text] };
/** @type {Message} */
const ENTITY = { schemaUrl: [1, text], type: [2, text], idKeys: [3, many(text)], descriptionKeys: [4, many(text)] };
/** @type {Message} */
const RESOURCE = { attributes: [1, ATTRIBUTES], droppedAttributesCount: [2, varint], entityRefs: [3, many(one(() => ENTITY))] };
/** @type {Message} */
const RESOURCE_SPANS = { resource: [1, one(() => RESOURCE)], scopeSpans: [2, many(one(() => SCOPE_SPANS))], schemaUrl: [3, text] };
/** @type {Message} */
const REQUEST = { resourceSpans: [1, many(one(() => RESOURCE_SPANS))] };

/**
 * @param {Uint8Array} body An `ExportTraceServiceRequest` in JSON.
 * @returns {Uint8Array} The same in protocol buffers.
 * @throws {Token2TextError} `invalid_body`, `limit_exceeded`.
 */
export function toProtobuf(body) {
  return written(parseExact(new TextDecoder().decode(body)), REQUEST);
}

/** Members in the order in which they stand. @param {Exact} value @param {Message} message */
function written(value, message) {
  if (!(value instanceof Map)) return wrong("an object is none");
  const parts = [];
  for (const [name, member] of value) {
    const field = message[name] ?? message[camelCase(name)];
    const part = field && member !== null ? field[1](field[0], member) : undefined;
    if (part) parts.push(part);
  }
  return concat(parts);
}

/** The spelling of fields that readers of protocol buffers' JSON take too. @param {string} name */
function camelCase(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}
