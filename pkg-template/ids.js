import { Token2TextError, describe } from "./errors.js";

/**
 * Token ids: an array of whole numbers, or any integer typed array. Each id lies between 0 and 4294967295.
 *
 * @typedef {readonly number[] | Uint32Array | Int32Array | BigInt64Array | BigUint64Array | Uint16Array | Int16Array | Uint8Array |
 *   Int8Array | Uint8ClampedArray} TokenIds
 */

const MAX_ID = 0xffffffff;
const UNSIGNED = new Set(["Uint32Array", "Uint16Array", "Uint8Array", "Uint8ClampedArray"]);
const SIGNED = new Set(["Int32Array", "Int16Array", "Int8Array"]);
const BIG = new Set(["BigInt64Array", "BigUint64Array"]);

/** The name of a typed array's class, also for one from another window. @param {unknown} value */
function typedArrayName(value) {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? /** @type {Uint8Array} */ (value)[Symbol.toStringTag]
    : undefined;
}

/**
 * How many ids there are, or the reason why the value is not ids. The glue of wasm-bindgen would take `-1`, `1.9` and
 * `"abc"` without complaint, so everything is checked on this side.
 *
 * @param {unknown} ids
 * @returns {number}
 */
export function countIds(ids) {
  // The most frequent kinds, which take no look at names.
  if (Array.isArray(ids) || (ArrayBuffer.isView(ids) && ids instanceof Uint32Array)) return ids.length;
  const name = typedArrayName(ids);
  if (name && (UNSIGNED.has(name) || SIGNED.has(name) || BIG.has(name))) return /** @type {Uint32Array} */ (ids).length;
  throw new Token2TextError(
    "invalid_ids",
    `ids must be an array of numbers or an integer typed array such as Uint32Array, not ${describe(ids)}`,
  );
}

/**
 * Writes ids that `countIds` has counted.
 *
 * @param {TokenIds} ids
 * @param {Uint32Array} target
 * @param {number} start Where in it.
 */
export function writeIds(ids, target, start) {
  if (Array.isArray(ids)) return writeNumbers(ids, target, start);
  const name = /** @type {string} */ (typedArrayName(ids));
  if (BIG.has(name)) return writeBigInts(/** @type {BigInt64Array} */ (ids), target, start);
  if (SIGNED.has(name)) {
    const index = /** @type {Int32Array} */ (ids).findIndex((id) => id < 0);
    if (index !== -1) throw badId(index, ids[index]);
  }
  target.set(/** @type {Uint32Array} */ (ids), start);
}

/** Ids as words of their own. @param {TokenIds} ids */
export function idWords(ids) {
  const words = new Uint32Array(countIds(ids));
  writeIds(ids, words, 0);
  return words;
}

/** @param {number[]} ids @param {Uint32Array} target @param {number} start */
function writeNumbers(ids, target, start) {
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i];
    if (typeof id !== "number" || id >>> 0 !== id) throw badId(i, i in ids ? id : "a hole");
    target[start + i] = id;
  }
}

/** @param {BigInt64Array | BigUint64Array} ids @param {Uint32Array} target @param {number} start */
function writeBigInts(ids, target, start) {
  for (let i = 0; i < ids.length; i++) {
    const id = Number(ids[i]);
    if (id < 0 || id > MAX_ID) throw badId(i, ids[i]);
    target[start + i] = id;
  }
}

/** @param {number} index @param {unknown} value */
function badId(index, value) {
  const what = value === "a hole" ? value : describe(value);
  return new Token2TextError("invalid_ids", `ids[${index}] is ${what}; an id is a whole number from 0 to ${MAX_ID}`);
}
