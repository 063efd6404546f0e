/**
 * OTLP requests cut into spans and put together again, with every byte of what is not looked into; and the copy of a span
 * that a backend can store.
 */
import { tryParseExact } from "./exact-json.js";
import { MAX_INT64, repair, repairedText } from "./json-repair.js";
import { BYTES, bytesField, concat, fields, textField } from "./wire.js";

/**
 * A span with the messages around it, which `joinSpans` needs.
 *
 * @typedef {object} WireSpan
 * @property {string} traceId Hexadecimal.
 * @property {string} spanId
 * @property {string} parentId `""` for a root.
 * @property {string} name
 * @property {Uint8Array} bytes
 * @property {Wrapper} scope
 * @property {Wrapper} resource
 */
/** The fields of a message beside the repeated one that was cut out. @typedef {{ rest: Uint8Array }} Wrapper */

const RESOURCE_SPANS = 1;
const SCOPE_SPANS = 2;
const SPANS = 2;
const SPAN = { traceId: 1, spanId: 2, parentId: 4, name: 5, attributes: 9 };

/**
 * @param {Uint8Array} body An `ExportTraceServiceRequest`.
 * @returns {WireSpan[]}
 * @throws {import("../errors.js").Token2TextError} `invalid_body`.
 */
export function splitSpans(body) {
  /** @type {WireSpan[]} */
  const spans = [];
  for (const resourceSpans of cut(body, RESOURCE_SPANS).messages) {
    const resource = cut(resourceSpans, SCOPE_SPANS);
    for (const scopeSpans of resource.messages) {
      const scope = cut(scopeSpans, SPANS);
      for (const bytes of scope.messages) spans.push({ ...identity(bytes), bytes, scope, resource });
    }
  }
  return spans;
}

/** The messages of one repeated field, and all other bytes. @param {Uint8Array} message @param {number} number */
function cut(message, number) {
  const messages = [];
  const rest = [];
  for (const field of fields(message)) {
    if (field.number === number && field.type === BYTES) messages.push(field.bytes);
    else rest.push(field.whole);
  }
  return { messages, rest: concat(rest) };
}

/** @param {Uint8Array} span */
function identity(span) {
  const found = { traceId: "", spanId: "", parentId: "", name: "" };
  for (const { number, type, bytes } of fields(span)) {
    if (type !== BYTES) continue;
    if (number === SPAN.traceId) found.traceId = toHex(bytes);
    if (number === SPAN.spanId) found.spanId = toHex(bytes);
    if (number === SPAN.parentId) found.parentId = toHex(bytes);
    if (number === SPAN.name) found.name = new TextDecoder().decode(bytes);
  }
  return found;
}

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A request with these spans, below the resources and scopes that they came with. @param {readonly WireSpan[]} spans */
export function joinSpans(spans) {
  const resources = groupBy(spans, (span) => span.resource);
  return concat(resources.map(([resource, inResource]) => {
    const scopes = groupBy(inResource, (span) => span.scope);
    const scopeSpans = scopes.map(([scope, inScope]) => {
      return bytesField(SCOPE_SPANS, [scope.rest, ...inScope.map(({ bytes }) => bytesField(SPANS, bytes))]);
    });
    return bytesField(RESOURCE_SPANS, [resource.rest, ...scopeSpans]);
  }));
}

/** A request of spans that have no resource. @param {readonly Uint8Array[]} spans */
export function requestOf(spans) {
  return bytesField(RESOURCE_SPANS, bytesField(SCOPE_SPANS, spans.map((bytes) => bytesField(SPANS, bytes))));
}

/**
 * @template Item, Key
 * @param {readonly Item[]} items
 * @param {(item: Item) => Key} keyOf
 * @returns {[Key, Item[]][]}
 */
export function groupBy(items, keyOf) {
  /** @type {Map<Key, Item[]>} */
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups];
}

/** Whether these letters are somewhere in the bytes. @param {Uint8Array} bytes @param {string} letters Of ASCII. */
export function hasText(bytes, letters) {
  return new TextDecoder("latin1").decode(bytes).includes(letters);
}

/** A span with more attributes whose values are texts. @param {Uint8Array} span @param {readonly [string, string][]} added */
export function withAttributes(span, added) {
  if (added.length === 0) return span;
  return concat([span, ...added.map(([key, value]) => bytesField(SPAN.attributes, [textField(1, key), bytesField(2, textField(1, value))]))]);
}

/** A field is a string, a value whose string may hold JSON, or a message. @typedef {"string" | "value" | Shape} Kind */
/** @typedef {{ [field: number]: Kind }} Shape */

/** @type {Shape} */
const ANY_VALUE = { 1: "value" };
/** @type {Shape} */
const KEY_VALUE = { 1: "string", 2: ANY_VALUE };
/** @type {Shape} */
const ARRAY = { 1: ANY_VALUE };
ANY_VALUE[5] = ARRAY;
ANY_VALUE[6] = { 1: KEY_VALUE };
/** @type {Shape} */
const SPAN_SHAPE = {
  3: "string",
  5: "string",
  9: KEY_VALUE,
  11: { 2: "string", 3: KEY_VALUE },
  13: { 3: "string", 4: KEY_VALUE },
  15: { 2: "string" },
};

/** What was replaced in the copy that is sent. @typedef {import("./json-repair.js").Repair | "nul"} Repair */

/** Of what is around spans, beside them. @type {Shape} */
const RESOURCE_SHAPE = { 1: { 1: KEY_VALUE }, 3: "string" };
/** @type {Shape} */
const SCOPE_SHAPE = { 1: { 1: "string", 2: "string", 3: KEY_VALUE }, 3: "string" };

/** A span of which something was replaced. @typedef {{ traceId: string, spanId: string, repairs: Repair[] }} Repaired */

/**
 * The spans with texts that every backend can store: no lone surrogate, no U+0000 and, in JSON, no integer beyond 64 bits,
 * which becomes a string. One of them makes a server drop the batch, or fail to read the trace.
 *
 * @param {readonly WireSpan[]} spans
 * @returns {{ spans: WireSpan[], repaired: Repaired[] }}
 */
export function storable(spans) {
  /** Those of before, which many spans share. @type {Map<Wrapper, { wrapper: Wrapper, repairs: Set<Repair> }>} */
  const wrappers = new Map();
  /** @param {Wrapper} wrapper @param {Shape} shape */
  const storableWrapper = (wrapper, shape) => {
    const known = wrappers.get(wrapper);
    if (known) return known;
    /** @type {Set<Repair>} */
    const repairs = new Set();
    const made = { wrapper: { rest: repaired(wrapper.rest, shape, repairs) }, repairs };
    wrappers.set(wrapper, made);
    return made;
  };
  /** @type {Repaired[]} */
  const report = [];
  const copies = spans.map((span) => {
    const resource = storableWrapper(span.resource, RESOURCE_SHAPE);
    const scope = storableWrapper(span.scope, SCOPE_SHAPE);
    const repairs = new Set([...resource.repairs, ...scope.repairs]);
    const bytes = repaired(span.bytes, SPAN_SHAPE, repairs);
    if (repairs.size > 0) report.push({ traceId: span.traceId, spanId: span.spanId, repairs: [...repairs] });
    return { ...span, bytes, resource: resource.wrapper, scope: scope.wrapper };
  });
  return { spans: copies, repaired: report };
}

/** @param {Uint8Array} message @param {Shape} shape @param {Set<Repair>} repairs @returns {Uint8Array} */
function repaired(message, shape, repairs) {
  if (shape === ARRAY && hasOnlyIntegers(message)) return message;
  const parts = [];
  let changed = false;
  for (const field of fields(message)) {
    /** @type {Kind | undefined} */
    const kind = field.type === BYTES ? shape[field.number] : undefined;
    const bytes = kind === undefined ? field.bytes : isText(kind) ? storableText(field.bytes, kind, repairs) : repaired(field.bytes, kind, repairs);
    parts.push(bytes === field.bytes ? field.whole : bytesField(field.number, bytes));
    changed ||= bytes !== field.bytes;
  }
  return changed ? concat(parts) : message;
}

/**
 * Whether a list is one of ids, in which there is no text: looking into every id would take most of the time of an export.
 *
 * @param {Uint8Array} array
 */
function hasOnlyIntegers(array) {
  let at = 0;
  while (at < array.length) {
    const end = at + 2 + array[at + 1];
    // An element, the key of an integer, and one varint up to the end.
    if (array[at] !== 0x0a || array[at + 2] !== 0x18 || end < at + 4 || end > at + 13 || end > array.length || array[end - 1] > 0x7f) return false;
    for (let i = at + 3; i < end - 1; i++) if (array[i] < 0x80) return false;
    at = end;
  }
  return true;
}

/** @param {Kind} kind @returns {kind is "string" | "value"} */
function isText(kind) {
  return typeof kind === "string";
}

/** @param {Uint8Array} bytes @param {"string" | "value"} kind @param {Set<Repair>} repairs */
function storableText(bytes, kind, repairs) {
  /** @type {Set<Repair>} */
  const found = new Set();
  let text = repairedText(bytes, (repair) => found.add(repair));
  if (text.includes("\0")) {
    found.add("nul");
    text = text.replaceAll("\0", "\u{FFFD}");
  }
  if (kind === "value") text = storableJson(text, found);
  for (const repair of found) repairs.add(repair);
  return found.size > 0 ? new TextEncoder().encode(text) : bytes;
}

/** A text that the server will read as JSON, repaired; any other as it is. @param {string} text @param {Set<Repair>} repairs */
function storableJson(text, repairs) {
  if (!/^[[{"]/.test(text)) return text;
  /** @type {Set<Repair>} */
  const found = new Set();
  const repaired = repair(text, (kind) => found.add(kind), MAX_INT64);
  if (found.size === 0 || tryParseExact(text) === undefined) return text;
  for (const kind of found) repairs.add(kind);
  return repaired;
}
