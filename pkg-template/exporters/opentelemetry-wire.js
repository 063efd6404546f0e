/**
 * Attributes of OpenTelemetry's SDK as OTLP's protocol buffers, written in one pass and without BigInt: this runs on the thread of the
 * program that is traced.
 */

/** Numbers of the fields of an `AnyValue`. */
export const VALUE = { string: 1, bool: 2, int: 3, double: 4, array: 5, object: 6, bytes: 7 };
/** Of a pair of an attribute. */
const KEY = 1;
const MEMBER = 2;
/** Of a list, or an object. */
const ITEM = 1;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
/** A length is known when what it is of has been written. It is spelled with as many bytes as any can need. */
const LENGTH_BYTES = 5;
const VARINT_BYTES = 10;
/** Values in each other that are written; more than 1,024 messages in each other are not read, and an object takes three. */
const MAX_DEPTH = 256;

const utf8 = new TextEncoder();

/** A message that is being written. Numbers of fields are below 16, so that a key is one byte. */
export class Message {
  #bytes = new Uint8Array(4096);
  #at = 0;
  /** Lists and objects that are being written. @type {Set<object>} */
  #open = new Set();

  /** A copy of what has been written. */
  bytes() {
    return this.#bytes.slice(0, this.#at);
  }

  /** A message in this one. @param {number} number @param {() => void} write Writes what is in it. */
  message(number, write) {
    this.#key(number, BYTES);
    const start = this.#at + LENGTH_BYTES;
    this.#room(LENGTH_BYTES);
    this.#at = start;
    write();
    let rest = this.#at - start;
    for (let at = start - LENGTH_BYTES; at < start; at++, rest >>>= 7) this.#bytes[at] = (rest & 0x7f) | (at === start - 1 ? 0 : 0x80);
  }

  /** Bytes as they are. @param {Uint8Array} bytes */
  raw(bytes) {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A field for each of some attributes. @param {number} number @param {object} attributes */
  attributes(number, attributes) {
    for (const [key, value] of Object.entries(attributes)) {
      this.message(number, () => {
        this.#text(KEY, key);
        this.message(MEMBER, () => this.#value(value));
      });
    }
  }

  /**
   * What OpenTelemetry's own exporters make of a value: of null and what they do not know, one without a field. What is in itself, which
   * they cannot write, is none either.
   *
   * @param {unknown} value
   */
  #value(value) {
    if (typeof value === "string") this.#text(VALUE.string, value);
    else if (typeof value === "number") this.#number(value);
    else if (typeof value === "boolean") this.#integer(VALUE.bool, Number(value));
    else if (typeof value !== "object" || value === null || this.#open.has(value) || this.#open.size === MAX_DEPTH) return;
    else if (value instanceof Uint8Array) this.message(VALUE.bytes, () => this.raw(value));
    else {
      this.#open.add(value);
      if (Array.isArray(value)) this.message(VALUE.array, () => this.#items(value));
      else this.message(VALUE.object, () => this.attributes(ITEM, value));
      this.#open.delete(value);
    }
  }

  /** @param {readonly unknown[]} items */
  #items(items) {
    for (const item of items) {
      if (typeof item === "number" && item >= 0 && Number.isSafeInteger(item)) this.#id(item);
      else this.message(ITEM, () => this.#value(item));
    }
  }

  /** An element of a list of ids, in the shortest spelling. @param {number} id */
  #id(id) {
    this.#key(ITEM, BYTES);
    const length = this.#at++;
    this.#integer(VALUE.int, id);
    this.#bytes[length] = this.#at - length - 1;
  }

  /** @param {number} value */
  #number(value) {
    if (Number.isSafeInteger(value)) return this.#integer(VALUE.int, value);
    this.#key(VALUE.double, FIXED64);
    new DataView(this.#bytes.buffer).setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  /** @param {number} number @param {number} value */
  #integer(number, value) {
    this.#key(number, VARINT);
    if (value < 0) return this.#negative(BigInt.asUintN(64, BigInt(value)));
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#at++] = rest;
  }

  /** @param {bigint} complement */
  #negative(complement) {
    let rest = complement;
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#at++] = Number(rest);
  }

  /** @param {number} number @param {string} text */
  #text(number, text) {
    this.message(number, () => {
      this.#room(3 * text.length);
      this.#at += utf8.encodeInto(text, this.#bytes.subarray(this.#at)).written;
    });
  }

  /** The key of a field; there is room for a number after it. @param {number} number @param {number} type */
  #key(number, type) {
    this.#room(1 + VARINT_BYTES);
    this.#bytes[this.#at++] = number << 3 | type;
  }

  /** @param {number} bytes */
  #room(bytes) {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#at + bytes));
    larger.set(this.bytes());
    this.#bytes = larger;
  }
}
