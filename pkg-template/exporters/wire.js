/** The wire format of protocol buffers: its fields as ranges of bytes, and how they are written. */
import { Token2TextError } from "../errors.js";

/**
 * One field as it stands in a message: `bytes` is its value without key and length, `whole` all of it.
 *
 * @typedef {{ number: number, type: number, bytes: Uint8Array, whole: Uint8Array }} Field
 */

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const FIXED32 = 5;
/** Bytes of the types that have always the same length. @type {Record<number, number>} */
const LENGTHS = { [FIXED64]: 8, [FIXED32]: 4 };

const encoder = new TextEncoder();

/**
 * The fields of a message, in order; unknown ones too.
 *
 * @param {Uint8Array} message
 * @returns {Generator<Field>}
 */
export function* fields(message) {
  let at = 0;
  while (at < message.length) {
    const start = at;
    const key = varintAt(message, at);
    at = key.end;
    const type = key.value % 8;
    const { from, end } = extent(message, at, type);
    yield { number: Math.floor(key.value / 8), type, bytes: message.subarray(from, end), whole: message.subarray(start, end) };
    at = end;
  }
}

/** Where a value is. @param {Uint8Array} message @param {number} at @param {number} type */
function extent(message, at, type) {
  if (type === VARINT) return { from: at, end: varintAt(message, at).end };
  const { value, end } = type === BYTES ? varintAt(message, at) : { value: LENGTHS[type] ?? -1, end: at };
  if (value < 0 || value > message.length - end) throw malformed(at);
  return { from: end, end: end + value };
}

/**
 * A key, a length, or the extent of a number, whose value is not exact beyond 2^53.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {{ value: number, end: number }}
 */
function varintAt(bytes, at) {
  let value = 0;
  for (let i = 0, unit = 1; i < 10 && at + i < bytes.length; i++, unit *= 128) {
    const byte = bytes[at + i];
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) return { value, end: at + i + 1 };
  }
  throw malformed(at);
}

/** @param {number} at */
function malformed(at) {
  return new Token2TextError("invalid_body", `not a message of protocol buffers at byte ${at}`);
}

/** The number of a field that is a varint, unsigned. @param {Field} field */
export function varintOf(field) {
  return field.bytes.reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n);
}

/** @param {Field} field */
export function fixed64Of({ bytes }) {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
}

/** @param {Field} field */
export function doubleOf({ bytes }) {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
}

/** @param {readonly Uint8Array[]} parts */
export function concat(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {bigint} value Two's complement if negative. */
function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Uint8Array.from([...bytes, Number(rest)]);
}

/** @param {number} number @param {number} type */
const key = (number, type) => varint(BigInt(number * 8 + type));

/** @param {number} number @param {Uint8Array | readonly Uint8Array[]} value */
export function bytesField(number, value) {
  const bytes = value instanceof Uint8Array ? value : concat(value);
  return concat([key(number, BYTES), varint(BigInt(bytes.length)), bytes]);
}

/** @param {number} number @param {string} value */
export function textField(number, value) {
  return bytesField(number, encoder.encode(value));
}

/** @param {number} number @param {bigint} value */
export function varintField(number, value) {
  return concat([key(number, VARINT), varint(value)]);
}

/** @param {number} number @param {number} value Unsigned. */
export function fixed32Field(number, value) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return concat([key(number, FIXED32), bytes]);
}

/** @param {number} number @param {bigint} value */
export function fixed64Field(number, value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return concat([key(number, FIXED64), bytes]);
}

/** @param {number} number @param {number} value */
export function doubleField(number, value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return concat([key(number, FIXED64), bytes]);
}
