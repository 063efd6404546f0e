/**
 * Values as they are at one moment, as plain data: what is changed afterwards changes no record. Strings are shared, for they cannot
 * change; lists, objects and typed arrays are copied, numbers in one loop. JSON is made of it later, off the caller's path.
 *
 * `toJSON`, the traps of a Proxy and the getters of objects are not asked; elements of lists, and name and message of an error, are read
 * as they are. What cannot be plain data stands there in words: `<function add>`, `<circular>`, `<getter>`.
 */
import { types } from "node:util";

/** Most levels of a value; Weave's server takes 197, Trackio's 252. */
const MAX_DEPTH = 100;
/** Most bytes of a value, by a rough count. */
export const MAX_VALUE_BYTES = 16 << 20;
const BYTES_OF_NUMBER = 8;
const TOO_LARGE = `<left out: over ${MAX_VALUE_BYTES >> 20} MiB>`;

/** Gives "Uint32Array" and the like; undefined for anything else. */
const kindOfView = /** @type {() => string | undefined} */ (
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get
);

/**
 * What an object becomes that is more than its members, by what it is; the first row that fits.
 *
 * @type {[is: (value: any) => boolean, becomes: (value: any, taken: Taken) => unknown][]}
 */
const KINDS = [
  [Array.isArray, (list, taken) => taken.list(list)],
  [(value) => kindOfView.call(value) !== undefined, (view, taken) => taken.view(view)],
  [types.isDate, (date) => (Number.isNaN(Date.prototype.getTime.call(date)) ? "<Invalid Date>" : Date.prototype.toISOString.call(date))],
  [types.isMap, (map, taken) => taken.map(map)],
  [types.isSet, (set, taken) => taken.list([...Set.prototype.values.call(set)])],
  [types.isNativeError, (error) => `${nameOf(error)}: ${wordsOf(error.message)}`],
  [types.isPromise, (promise) => `<${className(promise)}>`],
  [types.isRegExp, (pattern) => RegExp.prototype.toString.call(pattern)],
  [(value) => value instanceof URL, (url) => url.href],
  [types.isAnyArrayBuffer, (buffer) => `<${className(buffer)} of ${buffer.byteLength} bytes>`],
  [ArrayBuffer.isView, (view) => `<${className(view)} of ${view.byteLength} bytes>`],
  [() => true, (object, taken) => taken.object(object)],
];

/**
 * @param {unknown} value
 * @param {number} [maxBytes] What is beyond it is left out, in words.
 * @returns {{ value: unknown, bytes: number }} `bytes` is about what it holds.
 */
export function snapshot(value, maxBytes = MAX_VALUE_BYTES) {
  const taken = new Taken(maxBytes);
  return { value: taken.of(value), bytes: taken.bytes };
}

class Taken {
  bytes = 0;
  #maxBytes;
  /** The objects that are being copied. */
  #open = new Set();

  /** @param {number} maxBytes */
  constructor(maxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** @param {unknown} value @returns {unknown} */
  of(value) {
    if (typeof value === "string") return this.#fits(value.length) ? value : TOO_LARGE;
    if (types.isProxy(value)) return "<Proxy>";
    if (typeof value === "function") return `<function ${wordsOf(Object.getOwnPropertyDescriptor(value, "name")?.value)}>`;
    if (typeof value === "symbol") return `<${String(value)}>`;
    if (typeof value !== "object" || value === null) {
      this.bytes += BYTES_OF_NUMBER;
      return value;
    }
    if (this.#open.has(value)) return "<circular>";
    if (this.#open.size >= MAX_DEPTH) return `<deeper than ${MAX_DEPTH} levels>`;
    this.#open.add(value);
    try {
      const kind = KINDS.find(([is]) => is(value));
      return kind?.[1](value, this);
    } catch (error) {
      return `<unreadable: ${wordsOf(error)}>`;
    } finally {
      this.#open.delete(value);
    }
  }

  /** @param {unknown[]} list */
  list(list) {
    const { length } = list;
    // Before anything is copied: a list with holes may say that it has billions.
    if (!this.#fits(length * BYTES_OF_NUMBER)) return TOO_LARGE;
    const copy = new Array(length);
    for (let i = 0; i < length; i++) {
      const element = list[i];
      copy[i] = typeof element === "number" ? element : this.of(element);
    }
    return copy;
  }

  /** @param {Uint8Array} view Of any type of elements. */
  view(view) {
    if (!this.#fits(view.byteLength)) return TOO_LARGE;
    // Not the constructor of a class made of it.
    const name = /** @type {"Uint8Array"} */ (kindOfView.call(view));
    return new globalThis[name](view);
  }

  /** As an object if its keys can be names. @param {Map<unknown, unknown>} map */
  map(map) {
    const entries = [...Map.prototype.entries.call(map)];
    if (!entries.every(([key]) => ["string", "number", "bigint", "boolean"].includes(typeof key))) return this.list(entries);
    return this.#members(entries.map(([key]) => String(key)), (_, i) => entries[i][1]);
  }

  /** @param {object} object */
  object(object) {
    const keys = Object.keys(object);
    if (keys.length === 0 && !isPlainObject(object)) return `<${className(object)}>`;
    return this.#members(keys, (key) => {
      const { get, set, value } = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(object, key));
      return get || set ? "<getter>" : value;
    });
  }

  /** @param {string[]} keys @param {(key: string, i: number) => unknown} valueOf */
  #members(keys, valueOf) {
    const copy = Object.create(null);
    for (const [i, key] of keys.entries()) {
      if (!this.#fits(key.length)) {
        copy[`<${keys.length - i} more>`] = TOO_LARGE;
        break;
      }
      copy[key] = this.of(valueOf(key, i));
    }
    return copy;
  }

  /** @param {number} bytes */
  #fits(bytes) {
    if (this.bytes + bytes > this.#maxBytes) return false;
    this.bytes += bytes;
    return true;
  }
}

/** Whether it is an object of no class. @param {unknown} value @returns {value is object} */
export function isPlainObject(value) {
  if (typeof value !== "object" || value === null || types.isProxy(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** @param {object} value */
function className(value) {
  const constructor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(value) ?? {}, "constructor")?.value;
  return typeof constructor === "function" && constructor.name ? String(constructor.name) : "object";
}

/**
 * The class of what was thrown: its `name`, that of its class where it has only `Error`'s, as in `class OutOfMemory extends Error {}`.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function nameOf(error) {
  try {
    if (typeof error !== "object" || error === null) return typeof error;
    const name = /** @type {{ name?: unknown }} */ (error).name;
    return typeof name === "string" && name !== "" && name !== "Error" ? name : className(error);
  } catch {
    return "unknown";
  }
}

/** A value in words, whatever it is. @param {unknown} value */
export function wordsOf(value) {
  try {
    return value instanceof Error ? String(value.message) : String(value ?? "");
  } catch {
    return "no words";
  }
}
