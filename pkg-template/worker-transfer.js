/** What is sent to the worker: copies, or buffers that are moved because the caller said so. */
import { Token2TextError } from "./errors.js";
import { asBytes, isKind } from "./source.js";

/** Buffers that the next call moves. @type {WeakSet<object>} */
const marked = new WeakSet();

/** That of Node's Buffer gives a view. */
const typedArraySlice = Object.getPrototypeOf(Uint8Array.prototype).slice;

/**
 * Marks bytes or ids so that the next call moves them into the worker instead of copying them. They are empty afterwards.
 * A part of a larger buffer is copied all the same.
 *
 * @template {ArrayBufferView | ArrayBuffer} T
 * @param {T} value
 * @returns {T}
 */
export function transfer(value) {
  const buffer = bufferOf(value);
  if (!isKind(buffer, "ArrayBuffer")) {
    throw new Token2TextError("invalid_options", "transfer takes bytes or ids with a buffer of their own: a typed array or an ArrayBuffer");
  }
  marked.add(/** @type {object} */ (buffer));
  return value;
}

/** Takes the mark off what is copied anyway. @param {unknown} value @returns {boolean} Whether it was marked. */
export function unmark(value) {
  return marked.delete(/** @type {object} */ (bufferOf(value)));
}

/**
 * An argument as it is sent. Of a view only its own part: with it, its whole buffer would go.
 *
 * @param {unknown} value
 * @param {Transferable[]} moves Where buffers are added that are moved.
 * @returns {unknown}
 */
export function outgoing(value, moves) {
  if (Array.isArray(value) && value.some(ArrayBuffer.isView)) return value.map((item) => outgoing(item, moves));
  const isMarked = unmark(value);
  if (ArrayBuffer.isView(value) && value.byteLength !== value.buffer.byteLength) {
    return typedArraySlice.call(value instanceof DataView ? asBytes(value) : value);
  }
  if (isMarked) moves.push(/** @type {ArrayBuffer} */ (bufferOf(value)));
  return value;
}

/** @param {unknown} value */
function bufferOf(value) {
  return ArrayBuffer.isView(value) ? value.buffer : value;
}
