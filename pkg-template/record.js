/**
 * A parsed record as the JSON that `enrichBody` takes, and what came of it put back: the same objects wherever nothing was written,
 * copies on the way to the texts.
 */
import { Token2TextError } from "./errors.js";

/** @typedef {Record<PropertyKey, unknown>} Members */
/** @typedef {{ depth: number, bodyBytes: number }} Bounds */

/**
 * The JSON of a value. What JSON has no word for is null, or left out as a member: symbols, functions, what a getter throws, what it is
 * itself in, what nests deeper than `depth`.
 *
 * @param {unknown} value
 * @param {Bounds} bounds
 * @returns {string}
 * @throws {Token2TextError} `limit_exceeded`: it is longer than `bodyBytes`. What stands in several places is written in each.
 */
export function toJson(value, { depth, bodyBytes }) {
  /** The objects that are being written. @type {Set<unknown>} */
  const open = new Set();
  let length = 0;

  /** @param {string} text */
  function counted(text) {
    length += text.length;
    if (length <= bodyBytes) return text;
    throw new Token2TextError("limit_exceeded", `the record has more bytes as JSON than the limit \`bodyBytes\`, ${bodyBytes}`);
  }

  /** @param {unknown} value @returns {string | undefined} */
  function written(value) {
    if (typeof value === "bigint") return counted(String(value));
    if (typeof value !== "object" || value === null) return counted(JSON.stringify(value) ?? "") || undefined;
    if (open.has(value) || open.size === depth) return counted("null");
    if (isNumbers(value)) return counted(numbersJson(value));
    open.add(value);
    const text = isList(value) ? `[${Array.from(value, (element) => written(element) ?? "null").join()}]` : `{${members(value).join()}}`;
    open.delete(value);
    return text;
  }

  /** @param {object} object */
  function members(object) {
    const texts = [];
    for (const key of keysOf(object)) {
      const text = typeof key === "string" ? written(memberOf(object, key)) : undefined;
      if (text !== undefined) texts.push(`${counted(JSON.stringify(key))}:${text}`);
    }
    return texts;
  }

  return written(value) ?? "null";
}

/**
 * A value with what was written into its JSON.
 *
 * @param {unknown} value
 * @param {unknown} enriched The enriched JSON, parsed.
 * @returns {unknown} The value itself if nothing was.
 */
export function withTexts(value, enriched) {
  // Numbers and the like are never written, and may be more exact in the value.
  if (typeof enriched === "string") return enriched;
  if (typeof enriched !== "object" || enriched === null) return value;
  if (isList(enriched)) {
    if (isNumbers(value) && value.length === enriched.length && typeof enriched[0] !== "string") return value;
    return isList(value) ? listWithTexts(value, enriched) : enriched;
  }
  if (typeof value !== "object" || value === null || isList(value)) return enriched;
  return objectWithTexts(value, /** @type {Members} */ (enriched));
}

/** @param {unknown[]} list @param {unknown[]} enriched */
function listWithTexts(list, enriched) {
  let isSame = list.length === enriched.length;
  let at = 0;
  const copy = enriched.map((element) => {
    // Of a list of pairs some may have come and some gone; the others are in their order.
    const from = nextPair(list, at, keyOfPair(element));
    const now = from === -1 ? element : withTexts(list[from], element);
    isSame &&= from !== -1 && Object.is(now, list[from]);
    at = from === -1 ? at : from + 1;
    return now;
  });
  return isSame ? list : copy;
}

/** @param {object} object @param {Members} enriched */
function objectWithTexts(object, enriched) {
  /** What becomes of its members; of one that was taken out, nothing. @type {Map<PropertyKey, unknown>} */
  const changed = new Map();
  for (const key of keysOf(object)) {
    const there = memberOf(object, key);
    if (typeof key === "symbol" || !hasJson(there)) continue;
    const now = Object.hasOwn(enriched, key) ? withTexts(there, enriched[key]) : undefined;
    if (!Object.is(now, there)) changed.set(key, now);
  }
  const isNew = (/** @type {string} */ key) => !Object.hasOwn(object, key);
  const keys = Object.keys(enriched);
  return changed.size === 0 && !keys.some(isNew) ? object : copyOf(object, changed, enriched, keys.filter(isNew));
}

/**
 * A copy with other members. What a getter gives, it gives in the copy too; the copy of what is frozen is not.
 *
 * @param {object} object
 * @param {Map<PropertyKey, unknown>} changed
 * @param {Members} enriched
 * @param {string[]} added Keys that are new in `enriched`: each comes before the member that it comes before there.
 */
function copyOf(object, changed, enriched, added) {
  const copy = Object.create(Object.getPrototypeOf(object));
  const order = Object.keys(enriched);
  const places = added.map((key) => order.indexOf(key));
  let next = 0;
  const addBefore = (/** @type {number} */ place) => {
    for (; places[next] < place; next++) define(copy, added[next], enriched[added[next]]);
  };
  for (const key of keysOf(object)) {
    const place = order.indexOf(/** @type {string} */ (key));
    if (place >= 0) addBefore(place);
    if (changed.get(key) !== undefined) define(copy, key, changed.get(key));
    else if (!changed.has(key)) {
      const descriptor = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(object, key));
      if (descriptor.get) Object.defineProperty(copy, key, descriptor);
      else define(copy, key, descriptor.value);
    }
  }
  addBefore(Infinity);
  return copy;
}

/** Sets a member without running a setter, as of `__proto__`. @param {object} object @param {PropertyKey} key @param {unknown} value */
function define(object, key, value) {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** @param {object} object */
function keysOf(object) {
  try {
    return Reflect.ownKeys(object);
  } catch {
    return [];
  }
}

/** Nothing if a getter throws. @param {object} object @param {PropertyKey} key */
function memberOf(object, key) {
  try {
    return /** @type {Members} */ (object)[key];
  } catch {
    return undefined;
  }
}

/** @param {unknown} value */
function hasJson(value) {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}

/** Where the next pair with a key is, or, without a key, what is no pair; -1 if there is none. @param {unknown[]} list @param {number} at @param {string} [key] */
function nextPair(list, at, key) {
  for (let index = at; index < list.length; index++) if (keyOfPair(list[index]) === key) return index;
  return -1;
}

/** The key of `{ key, value }`, as which OTLP has attributes. @param {unknown} element */
function keyOfPair(element) {
  const key = typeof element === "object" && element !== null ? memberOf(element, "key") : undefined;
  return typeof key === "string" ? key : undefined;
}

/** Asked of a proxy that was revoked, `Array.isArray` throws. @param {unknown} value @returns {value is unknown[]} */
function isList(value) {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** Whether it is a list, of any type, that holds nothing but numbers. @param {unknown} value @returns {value is number[]} */
function isNumbers(value) {
  return isView(value) || (isList(value) && value.every((element) => typeof element === "number"));
}

/** @param {number[]} list */
function numbersJson(list) {
  // What is no number is null in JSON, which only an array of another type can hold.
  const isExact = isView(list) && !(list instanceof Float64Array || list instanceof Float32Array);
  return isExact ? `[${list.join()}]` : JSON.stringify(Array.from(list));
}

/** Whether it is an array of one type. @param {unknown} value */
function isView(value) {
  return ArrayBuffer.isView(value) && "length" in value;
}
