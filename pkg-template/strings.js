/**
 * Short runs of ids as the strings of their tokens, put together without a call into WebAssembly.
 *
 * Strings are in a list by id, each kept when it was first needed; there is nothing at what is no id. The list has no holes,
 * which V8 would look for elsewhere.
 */
import { hasSlices } from "./texts.js";

/** @typedef {(string | Alone | undefined)[]} Strings */

/** Most ids of a run that is put together; more are decoded faster in WebAssembly, whose texts become strings the fastest in Node. */
export const SHORT = hasSlices ? 8 : 16;
/** Ids from here on have no place. */
const END = 1 << 20;

/** A string that a token is only when no other is beside it. */
class Alone {
  /** @param {string} string */
  constructor(string) {
    this.string = string;
  }
}

/**
 * The text of a short run; undefined if a string is not here, or something is no id. Lists of the two most frequent kinds are taken,
 * each by code of its own as far as one id: V8 then knows what it reads.
 *
 * @param {Strings} strings
 * @param {unknown} ids
 * @returns {string | undefined}
 */
export function textOf(strings, ids) {
  return ArrayBuffer.isView(ids) ? ofWords(strings, /** @type {Uint32Array} */ (ids)) : ofNumbers(strings, ids);
}

/** @param {Strings} strings @param {Uint32Array} ids */
function ofWords(strings, ids) {
  const count = ids.length;
  if (!(ids instanceof Uint32Array)) return undefined;
  return count === 1 ? alone(strings[ids[0]]) : join(strings, ids, count);
}

/** @param {Strings} strings @param {unknown} ids */
function ofNumbers(strings, ids) {
  if (!Array.isArray(ids)) return undefined;
  const count = ids.length;
  return count === 1 ? alone(at(strings, ids[0])) : join(strings, ids, count);
}

/** @param {string | Alone | undefined} string */
function alone(string) {
  return typeof string === "object" ? string.string : string;
}

/**
 * Two by two: what was strung together in fewer steps is made one the faster when it is read.
 *
 * @param {Strings} strings
 * @param {ArrayLike<unknown>} ids
 * @param {number} count
 */
function join(strings, ids, count) {
  if (count === 0 || count > SHORT) return undefined;
  let i = count & 1;
  let text = i === 1 ? at(strings, ids[0]) : "";
  if (typeof text !== "string") return undefined;
  for (; i < count; i += 2) {
    const one = at(strings, ids[i]);
    const other = at(strings, ids[i + 1]);
    if (typeof one !== "string" || typeof other !== "string") return undefined;
    text += one + other;
  }
  return text;
}

/** @param {Strings} strings @param {unknown} id */
function at(strings, id) {
  return typeof id === "number" ? strings[id] : undefined;
}

/** Whether the string of an id could be kept, and is not. @param {Strings} strings @param {number} id */
export function lacks(strings, id) {
  return id < END && strings[id] === undefined;
}

/**
 * @param {Strings} strings
 * @param {number} id
 * @param {string} string What the token is alone.
 * @param {boolean} isWhole Whether it is the same beside others.
 */
export function keep(strings, id, string, isWhole) {
  while (strings.length <= id) strings.push(undefined);
  // By way of JSON, for what a browser's TextDecoder gives lies outside of V8's heap, and is put together slowly.
  const own = /** @type {string} */ (JSON.parse(JSON.stringify(string)));
  strings[id] = isWhole ? own : new Alone(own);
}
