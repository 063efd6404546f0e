/** Texts out of WebAssembly memory, by what reads them the fastest. */
import { Token2TextError } from "./errors.js";

/** What a text is in memory, as `TokenizerCore` tells it. */
const UTF8 = 0;
const ASCII = 1;

// The same results as Rust's lossy conversion; a leading U+FEFF is text here.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });

/**
 * What Node has and nobody else is asked for: it makes strings of memory several times faster than its TextDecoder does.
 *
 * @typedef {{ latin1Slice(start: number, end: number): string, ucs2Slice(start: number, end: number): string }} Slices
 */
export const hasSlices = isNode() && ["latin1Slice", "ucs2Slice"].every((name) => typeof Reflect.get(Buffer.prototype, name) === "function");

/** Deno and Bun, which pass for Node, have these functions in JavaScript, or other strings. */
function isNode() {
  return typeof Buffer === "function" && typeof process === "object" && !process.versions?.bun && !process.versions?.deno;
}

/** @param {Uint8Array} bytes @returns {string} */
export function decodeUtf8(bytes) {
  return utf8.decode(/** @type {BufferSource} */ (bytes));
}

/** The memory of an instance. A memory that grows leaves empty arrays behind, so they are looked at before each use. */
export class Memory {
  #memory;
  #words = new Uint32Array();
  #bytes = new Uint8Array();
  /** @type {Slices | undefined} */
  #slices;

  /** @param {WebAssembly.Memory} memory */
  constructor(memory) {
    this.#memory = memory;
  }

  #renew() {
    const { buffer } = this.#memory;
    this.#words = new Uint32Array(buffer);
    this.#bytes = new Uint8Array(buffer);
    if (hasSlices) this.#slices = /** @type {Slices} */ (/** @type {unknown} */ (Buffer.from(buffer)));
  }

  /** @returns {Uint32Array} */
  get words() {
    if (this.#words.length === 0) this.#renew();
    return this.#words;
  }

  /** A view, good until the memory grows. @param {number} start @param {number} length */
  bytes(start, length) {
    if (this.#bytes.length === 0) this.#renew();
    return this.#bytes.subarray(start, start + length);
  }

  /**
   * @param {number} form
   * @param {number} start
   * @param {number} length In bytes.
   */
  text(form, start, length) {
    if (this.#bytes.length === 0) this.#renew();
    const end = start + length;
    try {
      if (form === UTF8) return utf8.decode(this.#bytes.subarray(start, end));
      if (this.#slices) return form === ASCII ? this.#slices.latin1Slice(start, end) : this.#slices.ucs2Slice(start, end);
      return (form === ASCII ? utf8 : utf16).decode(this.#bytes.subarray(start, end));
    } catch (error) {
      const what = "the text is longer than a string can be here; decode in parts, or use decodeBytes";
      throw new Token2TextError("limit_exceeded", what, { cause: error });
    }
  }
}
