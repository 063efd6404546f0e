/** The wire format of protocol buffers, read in place. */

/** A field: its key is at `start`, its value at `from`. @typedef {Range & { number: number, type: number, start: number }} Field */
/** @typedef {{ from: number, end: number }} Range */

export const VARINT = 0;
export const BYTES = 2;
/** Bytes of a value, of the types that have always as many. @type {Record<number, number>} */
const SIZES = { 1: 8, 5: 4 };

/** The fields of a message, one after the other, in place: what it is at is in its properties. */
export class Fields {
  number = 0;
  type = 0;
  start = 0;
  from = 0;
  end = 0;
  #body;
  #last;

  /** @param {Buffer} body @param {Range} message */
  constructor(body, { from, end }) {
    this.#body = body;
    this.#last = end;
    this.end = from;
  }

  /** Goes to the next field. @returns {boolean} Whether there is one. @throws {Error} It is no message. */
  next() {
    if (this.end >= this.#last) return false;
    this.start = this.from = this.end;
    const key = this.#varint();
    this.type = key % 8;
    this.number = Math.floor(key / 8);
    const size = this.#size();
    if (size === undefined || this.from + size > this.#last) throw new Error("not a message of protocol buffers");
    this.end = this.from + size;
    return true;
  }

  /** Bytes of the value; what stands before it is read. */
  #size() {
    if (this.type === BYTES) return this.#varint();
    if (this.type !== VARINT) return SIZES[this.type];
    const { from } = this;
    this.#varint();
    const size = this.from - from;
    this.from = from;
    return size;
  }

  /** Reads a number, not exact beyond 2^53. */
  #varint() {
    let value = 0;
    for (let i = 0, unit = 1; i < 10 && this.from < this.#body.length; i++, unit *= 128) {
      const byte = this.#body[this.from++];
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    throw new Error("not a number of protocol buffers");
  }
}

/**
 * The fields of a message, in order; unknown ones too.
 *
 * @param {Buffer} body
 * @param {Range} message
 * @returns {Generator<Field>}
 * @throws {Error} It is no message.
 */
export function* fields(body, message) {
  for (const at = new Fields(body, message); at.next(); ) {
    yield { number: at.number, type: at.type, start: at.start, from: at.from, end: at.end };
  }
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
