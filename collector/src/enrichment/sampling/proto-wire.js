/** The wire format of protocol buffers, read in place. */

/** A field: its key is at `start`, its value at `from`. @typedef {Range & { number: number, type: number, start: number }} Field */
/** @typedef {{ from: number, end: number }} Range */

export const VARINT = 0;
export const BYTES = 2;
/** Bytes of a value, of the types that have always as many. @type {Record<number, number>} */
const SIZES = { 1: 8, 5: 4 };

/**
 * The fields of a message, in order; unknown ones too.
 *
 * @param {Buffer} body
 * @param {Range} message
 * @returns {Generator<Field>}
 * @throws {Error} It is no message.
 */
export function* fields(body, { from: at, end: last }) {
  while (at < last) {
    const start = at;
    const key = varintAt(body, at);
    const type = key.value % 8;
    const length = type === BYTES ? varintAt(body, key.end) : undefined;
    const from = length ? length.end : key.end;
    const size = length ? length.value : type === VARINT ? varintAt(body, from).end - from : SIZES[type];
    if (size === undefined || from + size > last) throw new Error("not a message of protocol buffers");
    at = from + size;
    yield { number: Math.floor(key.value / 8), type, start, from, end: at };
  }
}

/** A number, not exact beyond 2^53. @param {Buffer} body @param {number} at */
function varintAt(body, at) {
  let value = 0;
  for (let i = 0, unit = 1; i < 10 && at + i < body.length; i++, unit *= 128) {
    const byte = body[at + i];
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) return { value, end: at + i + 1 };
  }
  throw new Error("not a number of protocol buffers");
}

/** The value of a field that is an `int64`. @param {Buffer} body @param {Range} value */
export function int64Of(body, { from, end }) {
  const bytes = body.subarray(from, end);
  return BigInt.asIntN(64, bytes.reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n));
}

/** A field of bytes. @param {number} number At most 15. @param {Buffer} value @returns {Buffer[]} */
export function bytesField(number, value) {
  const head = [number * 8 + BYTES];
  let rest = value.length;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) head.push((rest % 128) | 0x80);
  return [Buffer.from([...head, rest]), value];
}
